"""What test programs and compilers print, as they print it."""

PYTEST_FAILED = """\
============================= test session starts ==============================
platform linux -- Python 3.11.9, pytest-9.0.1, pluggy-1.6.0
rootdir: /work/shop
collected 2 items

tests/test_cart.py .F                                                    [100%]

=================================== FAILURES ===================================
_______________________________ test_discount __________________________________

    def test_discount():
>       assert total([10, 20], 0.5) == 15
E       assert 30 == 15
E        +  where 30 = total([10, 20], 0.5)

tests/test_cart.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_discount - assert 30 == 15
========================= 1 failed, 1 passed in 0.03s ==========================
"""
PYTEST_PASSED = "..                                                   [100%]\n2 passed in 0.01s\n"
TRACEBACK = """\
Traceback (most recent call last):
  File "/work/shop/shop/main.py", line 8, in <module>
    run()
  File "/work/shop/shop/load.py", line 21, in run
    json.loads(text)
  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode
    raise JSONDecodeError("Expecting value", s, err.value) from None
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
"""
GO_FAILED = """\
--- FAIL: TestTotal (0.00s)
    cart_test.go:14: total = 30, want 15
FAIL
FAIL\texample.com/shop/cart\t0.002s
FAIL
"""
GO_BUILD = "# example.com/shop/cart\n./cart.go:9:2: undefined: discount\n"
CARGO_ERROR = """\
   Compiling shop v0.1.0 (/work/shop)
\x1b[0m\x1b[1m\x1b[38;5;9merror[E0308]\x1b[0m\x1b[1m: mismatched types\x1b[0m
  --> src/cart.rs:12:5
   |
12 |     total
   |     ^^^^^ expected `u64`, found `f64`

error: could not compile `shop` (lib) due to 1 previous error
"""
CARGO_PANIC = """\
running 1 test
test tests::discount ... FAILED

failures:

---- tests::discount stdout ----

thread 'tests::discount' panicked at src/cart.rs:40:9:
assertion `left == right` failed
  left: 30
 right: 15

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `--lib`
"""
TSC = "src/cart.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.\n"
NODE = """\
/work/shop/src/cart.js:4
  return items.total();
               ^

TypeError: items.total is not a function
    at sum (/work/shop/src/cart.js:4:16)
    at Object.<anonymous> (/work/shop/src/main.js:2:1)
    at node:internal/modules/cjs/loader:1554:14
"""
JEST = """\
 FAIL  src/cart.test.js
  ● cart › gives a discount

    expect(received).toBe(expected) // Object.is equality

    Expected: 15
    Received: 30

Tests:       1 failed, 1 passed, 2 total
"""
JEST_KEY = (
    "expect(received).toBe(expected) // Object.is equality"
    " @ src/cart.test.js cart › gives a discount"
)
MAVEN = """\
[INFO] Compiling 3 source files
[ERROR] COMPILATION ERROR :
[ERROR] /work/shop/src/main/java/Cart.java:[14,9] cannot find symbol
[INFO] BUILD FAILURE
"""
JAVA = """\
Exception in thread "main" java.lang.IllegalStateException: no items
\tat shop.Cart.total(Cart.java:14)
\tat shop.Main.main(Main.java:5)
"""
GCC = """\
gcc -c cart.c
cart.c: In function 'total':
cart.c:14:9: error: 'sum' undeclared (first use in this function)
make: *** [Makefile:3: cart.o] Error 1
"""
