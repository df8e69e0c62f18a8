"""Small repositories on which the workflows run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.engine.repositories.roots import Root

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "checkout": {
        "order/process.go": (
            "package order\n\nimport (\n\t\"context\"\n\n\t\"example.com/payments/client\"\n)\n\n"
            "// ProcessOrder charges an order.\n"
            "func ProcessOrder(ctx context.Context) error {\n"
            "\treturn client.Charge(ctx, timeout())\n}\n\n"
            "func timeout() string { return os.Getenv(\"PAYMENT_TIMEOUT_S\") }\n\n"
            "// TODO: retry\nfunc unused() {}\n"
        ),
        "order/process_test.go": (
            "package order\n\nfunc TestProcessOrder(t *testing.T) {\n"
            "\tif err := ProcessOrder(nil); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n"
        ),
        "main.go": (
            "package main\n\nfunc main() {\n"
            "\torder.ProcessOrder(nil)\n\torder.ProcessOrder(nil)\n}\n"
        ),
        "deploy/values.yaml": "payment_timeout_s: 30\nreplicas: 2\n",
        "docs/settings.md": "# Settings\n\n`PAYMENT_TIMEOUT_S` is the time limit of a charge.\n",
    },
    "payments": {
        "src/service.py": (
            "import json\n\n\nclass PaymentService:\n    \"\"\"Charges.\"\"\"\n\n"
            "    def charge(self, order):\n        return json.dumps({\"order\": order})\n\n\n"
            "def retry_payment(service, order):\n    # FIXME: ProcessOrder calls this twice\n"
            "    return service.charge(order)\n"
        ),
        "tests/test_service.py": (
            "from src.service import PaymentService\n\n\ndef test_charge():\n"
            "    assert PaymentService().charge(1)\n"
        ),
    },
    "web": {"index.ts": "export function render(): string {\n  return 'nothing';\n}\n"},
}  # fmt: skip
"""Content by path, by repository."""


def write(folder: Path) -> list[Root]:
    """Write the repositories below a folder, and return them as roots of these names."""
    roots = []
    for name, files in FILES.items():
        for path, content in files.items():
            file = folder / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, "utf-8")
        roots.append(Root(name=name, folder=os.path.realpath(folder / name)))
    return roots
