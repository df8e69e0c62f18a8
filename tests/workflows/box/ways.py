# ruff: noqa: E501
"""Ways past a safety policy: each defines `imp`, which returns a module by its name.

They are what is published of escapes from Python sandboxes (smolagents' CVE-2025-5120,
CVE-2025-9959 and CVE-2026-4963 among them), and the bypasses of the policy that triseek's follows.
"""

from __future__ import annotations

from textwrap import dedent, indent

_VIA_BUILTINS = "imp = (b if isinstance(b, dict) else b.__dict__)['__import__']"

WAYS: dict[str, str] = {
    "plain import": "imp = __import__",
    "import of builtins": "import builtins as b\n" + _VIA_BUILTINS,
    "import of importlib": "import importlib\nimp = importlib.import_module",
    "sys.modules": "import sys\nimp = lambda n: sys.modules.get(n) or sys.modules['builtins'].__import__(n)",
    "sys under another name": "import sys\ns = sys\nimp = s.modules['builtins'].__import__",
    "getattr of two halves": "imp = getattr(__builtins__, '__imp' + 'ort__') if not isinstance(__builtins__, dict) else __builtins__['__imp' + 'ort__']",
    "builtins by globals()": "b = globals()['__builtins__']\n" + _VIA_BUILTINS,
    "vars of a module": "import json\nb = vars(json)['__builtins__']\n" + _VIA_BUILTINS,
    "subclasses of object": """
        for c in ().__class__.__base__.__subclasses__():
            g = getattr(c.__init__, '__globals__', None)
            if g and '__builtins__' in g:
                b = g['__builtins__']
                break
        """ + _VIA_BUILTINS,
    "subclasses by mro": """
        for c in ''.__class__.__mro__[-1].__subclasses__():
            if c.__name__ == '_wrap_close':
                b = c.__init__.__globals__['__builtins__']
        """ + _VIA_BUILTINS,
    "importer among subclasses": """
        loader = [c for c in object.__subclasses__() if c.__name__ == 'BuiltinImporter'][0]
        imp = lambda n: loader.load_module('builtins').__import__(n)
        """,
    "a builtin's module": "b = print.__self__\n" + _VIA_BUILTINS,
    "a function's globals": "def f(): pass\nb = f.__globals__['__builtins__']\n" + _VIA_BUILTINS,
    "a function's builtins": "b = (lambda: 0).__builtins__\n" + _VIA_BUILTINS,
    "a generator's frame": "g = (x for x in ())\nb = g.gi_frame.f_builtins\n" + _VIA_BUILTINS,
    "the frame behind a generator": """
        def walk():
            yield g.gi_frame.f_back
        g = walk()
        frame = next(g)
        b = (frame or g.gi_frame).f_globals['__builtins__']
        """ + _VIA_BUILTINS,
    "a coroutine's frame": """
        async def wait(): pass
        c = wait()
        b = c.cr_frame.f_builtins
        c.close()
        """ + _VIA_BUILTINS,
    "an asynchronous generator's frame": """
        async def items(): yield 1
        b = items().ag_frame.f_builtins
        """ + _VIA_BUILTINS,
    "a traceback's frame": """
        try:
            1 / 0
        except ZeroDivisionError as e:
            b = e.__traceback__.tb_frame.f_builtins
        """ + _VIA_BUILTINS,
    "the caller's frame": "import sys\nb = sys._getframe(1).f_builtins\n" + _VIA_BUILTINS,
    "a trace function": """
        import sys
        seen = []
        sys.settrace(lambda frame, event, arg: seen.append(frame))
        (lambda: 0)()
        sys.settrace(None)
        b = seen[0].f_builtins
        """ + _VIA_BUILTINS,
    "a format that fails": """
        class A:
            def __init__(self): pass
        try:
            '{0.__init__.__globals__[__builtins__].nope}'.format(A())
        except AttributeError as e:
            b = e.obj
        """ + _VIA_BUILTINS,
    "string.Formatter": """
        import string
        class A:
            def __init__(self): pass
        b = string.Formatter().get_field('0.__init__.__globals__', (A(),), {})[0]['__builtins__']
        """ + _VIA_BUILTINS,
    "operator.attrgetter": """
        import operator
        def f(): pass
        b = operator.attrgetter('__glo' + 'bals__')(f)['__builtins__']
        """ + _VIA_BUILTINS,
    "operator.methodcaller": """
        import operator
        classes = operator.methodcaller('__sub' + 'classes__')(object)
        c = [c for c in classes if c.__name__ == 'BuiltinImporter'][0]
        b = operator.methodcaller('load_module', 'builtins')(c)
        """ + _VIA_BUILTINS,
    "eval": "imp = eval('__import__')",
    "exec": "space = {}\nexec('i = __import__', space)\nimp = space['i']",
    "compile": "imp = (lambda c: eval(c))(compile('__import__', 'x', 'eval'))",
    "eval under another name": "e = eval\nimp = e('__import__')",
    "eval of annotations": """
        import typing
        class A:
            x: '[__import__]'
        try:
            typing.get_type_hints(A)
        except TypeError:
            pass
        imp = typing.ForwardRef('__import__')._evaluate({}, {}, recursive_guard=frozenset()) \\
            if False else typing.sys.modules['builtins'].__import__
        """,
    "typing's sys": "import typing\nimp = typing.sys.modules['builtins'].__import__",
    "random's os": "import random\nimp = lambda n: random._os if n == 'os' else random._os.sys.modules['builtins'].__import__(n)",
    "collections' sys": "import collections\nimp = collections._sys.modules['builtins'].__import__",
    "dataclasses' sys": "import dataclasses\nimp = dataclasses.sys.modules['builtins'].__import__",
    "dataclasses' strings": """
        import dataclasses
        D = dataclasses.make_dataclass('D', [('x', 'int', dataclasses.field(default=0))])
        b = D.__init__.__builtins__
        """ + _VIA_BUILTINS,
    "json's codecs": "import json\nimp = json.codecs.builtins.__import__",
    "json's hooks": """
        import json
        imp = json.loads('{"f": 1}', object_hook=lambda o: (lambda: 0).__builtins__)['__import__']
        """,
    "namedtuple's globals": """
        import collections
        b = collections.namedtuple.__globals__['_sys'].modules['builtins']
        """ + _VIA_BUILTINS,
    "re's enum": "import re\nimp = re.enum.sys.modules['builtins'].__import__",
    "argparse's os": "import argparse\nimp = lambda n: argparse._os if n == 'os' else argparse._sys.modules['builtins'].__import__(n)",
    "asyncio's parts": "import asyncio\nimp = asyncio.base_events.sys.modules['builtins'].__import__",
    "statistics' random": "import statistics\nimp = statistics.sys.modules['builtins'].__import__",
    "functools' wrapped": "import functools\nb = functools.lru_cache.__globals__['__builtins__']\n" + _VIA_BUILTINS,
    "a module's loader": "import sys, json\nimp = json.__loader__.__init__.__globals__['_os'].sys.modules['builtins'].__import__ if False else json.__spec__.loader.get_source.__globals__['sys'].modules['builtins'].__import__",
    "sys's specification": "import sys\nimp = sys.__spec__.loader.load_module('builtins').__import__",
    "pickle": """
        import pickle
        imp = pickle.loads(b'cbuiltins\\n__import__\\n.')
        """,
    "copyreg by reduce": """
        b = object().__reduce_ex__(2)[0].__globals__['__builtins__']
        """ + _VIA_BUILTINS,
    "warnings' module": """
        import warnings
        b = warnings.catch_warnings()._module.__builtins__
        """ + _VIA_BUILTINS,
    "the tools' module": """
        import runtime.zoekt_tools
        imp = runtime.zoekt_tools.search.__globals__['sys'].modules['builtins'].__import__
        """,
    "an import from the tools": """
        import runtime.zoekt_tools as tools
        imp = tools.ZoektRuntimeError.__init_subclass__.__self__.__class__ and (lambda: 0).__builtins__['__import__']
        """,
    "a decorator": """
        @eval
        @(lambda f: '__import__')
        def imp(): pass
        """,
    "a class's item": """
        class A:
            __class_getitem__ = eval
        imp = A['__import__']
        """,
    "a class's attribute": """
        class A:
            def __getattr__(self, name):
                return (lambda: 0).__builtins__['__' + name + '__']
        imp = A().import_ if False else A().__getattr__('import')
        """,
    "a pattern of a class": """
        def f(): pass
        match f:
            case object(__globals__=g):
                b = g['__builtins__']
        """ + _VIA_BUILTINS,
    "other code for a function": """
        def f(): return None
        def g(): return __import__
        f.__code__ = g.__code__
        imp = f()
        """,
    "a function from code": """
        import types
        imp = types.FunctionType((lambda: __import__).__code__, {'__builtins__': __builtins__})()
        """,
    "an exception's hook": """
        import sys
        b = sys.excepthook.__self__.modules['builtins'] if hasattr(sys.excepthook, '__self__') else sys.modules['builtins']
        """ + _VIA_BUILTINS,
    "the garbage collector": """
        import gc
        found = [o for o in gc.get_objects() if isinstance(o, dict) and '__import__' in o]
        imp = found[0]['__import__']
        """,
    "an audit of threads": """
        import threading
        b = threading.Thread.__init__.__globals__['__builtins__']
        """ + _VIA_BUILTINS,
    "subclasses of an exception": """
        c = [c for c in Exception.__subclasses__() if c.__name__ == 'Error' or hasattr(c, '__init__')][0]
        b = (lambda: 0).__globals__['__builtins__']
        """ + _VIA_BUILTINS,
}  # fmt: skip


def way(name: str) -> str:
    """The code of a way, without indentation."""
    text = WAYS[name]
    first, _, rest = text.partition("\n")
    if first.strip():
        return text
    # What is added at the end stands at the margin.
    lines = rest.split("\n")
    margin = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[margin:] if line[:margin].isspace() else line for line in lines).strip()


def script(name: str, goal: str) -> str:
    """A script that goes a way and tries to reach a goal with what it gets."""
    body = f"{way(name)}\n{dedent(goal).strip()}\nreturn out"
    return f"{_HEAD}\ndef run(args):\n    out = Tries()\n{indent(body, '    ')}\n"


_HEAD = '''
class Tries(list):
    """What was reached. Whatever fails is forgotten."""
    def __call__(self, *functions):
        for function in functions:
            try:
                self.append(str(function()))
            except BaseException:
                pass
'''
