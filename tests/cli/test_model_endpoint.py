"""Which endpoint is asked, and with what key."""

from __future__ import annotations

import json

import pytest

from tests.cli.model_server import answering, says
from triseek import config
from triseek.cli import model_endpoint
from triseek.errors import BackendFailure

KEY = "sk-test-0123456789abcdef"


@pytest.mark.parametrize("host", ["8.8.8.8", "[2001:4860:4860::8888]", "[::ffff:8.8.8.8]"])
def test_a_local_model_is_near(host):
    settings = config.Settings(brief_local_url=f"http://{host}/v1", brief_local_model="m")
    with pytest.raises(BackendFailure, match="neither this machine nor in a private network"):
        model_endpoint.local(settings)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "192.168.1.20", "10.0.0.1", "100.64.0.7"]
)
def test_this_machine_and_private_networks_are(host):
    settings = config.Settings(brief_local_url=f"http://{host}:8080", brief_local_model="m")
    assert model_endpoint.local(settings).url == f"http://{host}:8080/chat/completions"


def test_no_key_goes_over_an_open_network():
    for url in ("http://api.example.org/v1", "http://192.168.1.20/v1", "http://8.8.8.8/"):
        settings = config.Settings(brief_cloud_url=url, brief_cloud_model="m", brief_cloud_key=KEY)
        with pytest.raises(BackendFailure, match=r"brief\.cloud_url is not https"):
            model_endpoint.cloud(settings)


def test_an_address_keeps_what_it_asks_for_and_is_told_without():
    url = "https://x.example.org/openai/deployments/d?api-version=1&sig=hidden"
    settings = config.Settings(brief_cloud_url=url, brief_cloud_model="m", brief_cloud_key=KEY)
    found = model_endpoint.cloud(settings)

    assert found.url == url.replace("/d?", "/d/chat/completions?")
    assert found.place == "https://x.example.org/openai/deployments/d/chat/completions"
    assert KEY not in repr(found)


@pytest.mark.parametrize("variable", ["", "a key", "\x1b"])
def test_a_key_may_be_in_a_variable_that_is_named(variable, monkeypatch):
    settings = config.Settings(
        brief_cloud_url="https://x.example.org", brief_cloud_model="m", brief_cloud_key_env="MINE"
    )
    monkeypatch.setenv("MINE", f" {KEY}\n")
    assert model_endpoint.cloud(settings).key == KEY
    monkeypatch.setenv("MINE", variable)
    with pytest.raises(BackendFailure, match=r"the variable MINE, .* holds no key"):
        model_endpoint.cloud(settings)


def test_a_request_is_sent_with_its_key_and_answered_with_text():
    with answering(says("- fine")) as server:
        settings = config.Settings(
            brief_local_url=server.url, brief_local_model="m", brief_local_key=KEY
        )
        endpoint = model_endpoint.local(settings)
        body = model_endpoint.request(endpoint, [{"role": "user", "content": "é"}])

        assert json.loads(body)["messages"] == [{"role": "user", "content": "é"}]
        assert model_endpoint.ask(endpoint, body) == "- fine"
