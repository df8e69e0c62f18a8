"""Lines of many languages and the names they define; ␉ stands for a tab."""

NONE = "-"

TABLES = {
    "a.py": """
def foo(bar): -> foo
    async def foo(self): -> foo
class Foo(Base): -> Foo
FOO = 1 -> FOO
foo: int = 1 -> foo
    foo: int -> foo
    foo: list[int] = field(default_factory=list) -> foo
    foo: int = 1, -> -
    foo: dict[str, int] = { -> -
    else: foo -> -
    FOO = 1 -> FOO
type Foo = int -> Foo
    foo = bar() -> -
foo(bar) -> -
x == foo -> -
from a import foo -> -
import foo -> -
    return foo -> -
# def foo(): -> -
    "def foo" -> -
    if foo == 1: -> -
foo += 1 -> -
cdef int foo(int x): -> foo
""",
    "a.c": """
int foo(void) -> foo
static inline struct bar *foo(struct x *y) -> foo
static int __init foo(void) { return 1; } -> foo
void foo(int a, -> foo
#define FOO(x) (x) -> FOO
# define FOO -> FOO
struct foo { -> foo
struct foo -> foo
typedef struct foo { -> foo
typedef unsigned int foo_t; -> foo_t
typedef struct foo foo_t; -> foo_t
typedef int (*foo_fn)(int x); -> foo_fn
} foo_t; -> foo_t
} __packed foo; -> foo
enum foo { -> foo
␉FOO_A = 1, -> FOO_A
static const struct file_operations foo_fops = { -> foo_fops
static int foo; -> foo
static int foo[3] = {1, 2}; -> foo
static DEFINE_MUTEX(foo); -> foo
DEFINE_PER_CPU(int, foo); -> foo
SYSCALL_DEFINE3(foo, int, fd) -> foo
main (int argc, char **argv) -> main
__printf(1, 2) int foo(const char *fmt, ...) -> foo
static __alloc_size(1) void *foo(size_t n) -> foo
const char *foo(void) /* about */ -> foo
int foo(int x); -> -
extern int foo; -> -
extern int foo(int x, -> -
struct foo; -> -
␉foo(x); -> -
␉return foo(x); -> -
␉x = foo(y); -> -
␉if (foo(x)) { -> -
␉else if (foo(x)) { -> -
␉struct foo *x; -> -
␉struct foo *x = foo(y); -> -
␉list_for_each_entry(foo, x, y) { -> -
 * struct foo - the foo -> -
/* int foo(void) */ -> -
// int foo(void) -> -
EXPORT_SYMBOL(foo); -> -
module_init(foo); -> -
out: -> -
␉goto foo; -> -
␉.foo = foo, -> -
#include <foo.h> -> -
#ifdef FOO -> -
␉printk("int foo(void)"); -> -
""",
    "a.h": """
static inline int foo(int x) -> foo
#define FOO 1 -> FOO
int foo(int x) { return 1; } -> foo
struct foo { -> foo
int foo(int x, -> -
void foo(struct a *b) -> -
int foo(int x); -> -
extern struct foo bar; -> -
""",
    "a.cpp": """
class Foo : public Bar { -> Foo
class EXPORT_API Foo final : public Bar { -> Foo
void Foo::bar(int x) const { -> bar
Foo::Foo(int x) : x_(x) { -> Foo
Foo::~Foo() { -> Foo
    void foo(int x) override { -> foo
    std::vector<int> foo() const { -> foo
enum class Foo : uint8_t { -> Foo
using foo = std::vector<int>; -> foo
template <typename T> struct Foo { -> Foo
class Foo; -> -
    foo(x); -> -
    return foo(x); -> -
    auto x = foo(y); -> -
using namespace foo; -> -
    } else if (foo) { -> -
    while (foo(x)) { -> -
    void foo(int x); -> -
""",
    "a.m": """
- (void)foo:(int)x { -> foo
@interface Foo : NSObject -> Foo
    [self foo:x]; -> -
""",
    "A.java": """
public class Foo extends Bar { -> Foo
    private static final int FOO = 1; -> FOO
    public void foo(int x) { -> foo
    protected List<String> foo(int x, -> foo
    void foo(int x) { -> foo
    public Foo(int x) { -> Foo
    public <T> T foo(Class<T> x) throws E { -> foo
@interface Foo { -> Foo
public interface Foo<T> { -> Foo
    @Override public int foo() { -> foo
    foo(x); -> -
    return foo(x); -> -
    int y = foo(x); -> -
import static a.b.Foo; -> -
    new Foo(x) { -> -
    throw new Foo(x); -> -
    if (foo(x)) { -> -
    } else if (foo(x)) { -> -
 * public class Foo -> -
    // void foo() { -> -
    void foo(int x); -> -
""",
    "A.cs": """
public sealed partial class Foo : Bar -> Foo
    public int Foo { get; set; } -> Foo
    public int Foo => 1; -> Foo
    internal async Task<int> Foo(int x) -> Foo
    public delegate void Foo(int x); -> Foo
public record struct Foo(int X); -> Foo
    Foo(x); -> -
    var x = new Foo(); -> -
using Foo.Bar; -> -
""",
    "A.kt": """
fun foo(x: Int): Int = x -> foo
    override suspend fun foo() { -> foo
fun String.foo(): Int { -> foo
data class Foo(val x: Int) -> Foo
object Foo { -> Foo
val foo = 1 -> foo
    private val foo: Int = 1 -> foo
typealias Foo = Bar -> Foo
    val foo = bar() -> -
    foo(x) -> -
import a.Foo -> -
// fun foo() -> -
""",
    "A.scala": """
  def foo(x: Int): Int = { -> foo
case class Foo(x: Int) -> Foo
trait Foo[T] { -> Foo
type Foo = Bar -> Foo
  foo(x) -> -
""",
    "A.swift": """
public func foo(_ x: Int) -> Int { -> foo
struct Foo: Codable { -> Foo
protocol Foo { -> Foo
let foo = 1 -> foo
    case foo -> foo
    foo(x) -> -
    let foo = bar -> -
""",
    "a.js": """
function foo(x) { -> foo
export default async function foo() { -> foo
export const foo = (a, b) => { -> foo
const foo = async x => x -> foo
    const foo = function () { -> foo
const FOO = 1; -> FOO
let foo; -> foo
class Foo extends Bar { -> Foo
  foo(a, b) { -> foo
  async foo() { -> foo
  static get foo() { -> foo
  constructor(x) { -> constructor
  foo: function () { -> foo
  foo: (x) => x, -> foo
exports.foo = bar -> foo
module.exports.foo = 1 -> foo
Foo.prototype.foo = function () { -> foo
Foo.bar = function () { -> bar
    foo(x) -> -
    foo(function () { -> -
  describe('foo', () => { -> -
    if (foo(x)) { -> -
    for (const x of foo()) { -> -
    return foo(x) { -> -
    const foo = bar(x) -> -
    x = foo(y); -> -
import foo from 'foo' -> -
// function foo() { -> -
 * function foo() -> -
    switch (foo) { -> -
    } catch (foo) { -> -
""",
    "a.tsx": """
export interface Foo extends Bar { -> Foo
export type Foo = string | number -> Foo
type Foo<T> = T[] -> Foo
export enum Foo { -> Foo
declare function foo(x: number): void -> foo
export const Foo: React.FC<Props> = ({ a }) => { -> Foo
  private readonly foo: number; -> foo
  public foo(x: number): string { -> foo
  foo<T>(x: T): T { -> foo
export abstract class Foo { -> Foo
import { Foo } from './foo' -> -
  foo: number; -> -
  foo: bar, -> -
  foo?: number -> foo
  foo?(x: number): void; -> foo
  foo(x: (y: T) => void): string[]; -> foo
  foo<T>(x: T): Promise<T> -> foo
  foo(x); -> -
  foo(x) ? bar : baz; -> -
    case foo(x): -> -
  return <Foo bar={x} /> -> -
""",
    "a.go": """
func foo(x int) int { -> foo
func (s *Server) Foo(ctx context.Context) error { -> Foo
func Foo[T any](x T) T { -> Foo
type Foo struct { -> Foo
type Foo[T any] struct { -> Foo
␉Foo interface { -> Foo
var foo = 1 -> foo
const Foo = 1 -> Foo
␉FooBar Kind = iota -> FooBar
␉foo int -> foo
␉foo      map[string][]*bar.Baz // about -> foo
␉Foo func(x int) error -> Foo
␉Foo *bar.Baz[T] `json:"foo"` -> Foo
␉Foo(x func(int) error) (int, error) -> Foo
␉Foo(ctx context.Context) error -> Foo
␉foo int, -> -
␉foo, bar -> -
␉go foo -> -
␉defer foo() -> -
␉else foo -> -
␉foo(x) -> -
␉x := foo(y) -> -
␉return foo(x) -> -
␉Foo(x) -> -
␉x.Foo = 1 -> -
// func foo() { -> -
import "foo" -> -
""",
    "a.rs": """
pub(crate) async unsafe fn foo<T>(x: T) -> T { -> foo
fn foo() { -> foo
pub struct Foo; -> Foo
enum Foo { -> Foo
pub trait Foo: Bar { -> Foo
macro_rules! foo { -> foo
mod foo { -> foo
pub const FOO: u32 = 1; -> FOO
static mut FOO: u32 = 1; -> FOO
pub extern "C" fn foo() { -> foo
    pub foo: u32, -> foo
mod foo; -> -
    foo(x); -> -
    foo!(x); -> -
use foo::Foo; -> -
impl Foo for Bar { -> -
    let foo = bar; -> -
// fn foo() -> -
""",
    "a.rb": """
  def foo(x) -> foo
  def self.foo? -> foo?
  private def foo -> foo
class Foo < Bar -> Foo
module A::Foo -> Foo
  attr_reader :foo, :bar -> foo
  alias_method :foo, :bar -> foo
  FOO = 1 -> FOO
  foo(x) -> -
  x = foo -> -
  Foo.new -> -
# def foo -> -
""",
    "a.php": """
    public static function foo($x) { -> foo
function foo() { -> foo
final class Foo extends Bar { -> Foo
    const FOO = 1; -> FOO
define('FOO', 1); -> FOO
    private ?string $foo = null; -> foo
    $x = foo($y); -> -
    $this->foo(); -> -
use A\\Foo; -> -
// function foo() { -> -
""",
    "a.pl": """
sub foo { -> foo
package A::Foo; -> Foo
use constant FOO => 1; -> FOO
our $foo = 1; -> foo
    my $foo = 1; -> -
    foo($x); -> -
# sub foo -> -
""",
    "a.lua": """
function M.foo(x) -> foo
local function foo(x) -> foo
local foo = 1 -> foo
M.foo = function(x) -> foo
  foo(x) -> -
  local x = foo(y) -> -
-- function foo() -> -
""",
    "a.sh": """
foo() { -> foo
function foo { -> foo
FOO=1 -> FOO
export FOO=1 -> FOO
  export FOO=1 -> FOO
alias foo=bar -> foo
  foo "$x" -> -
echo foo -> -
# foo() { -> -
  FOO=1 bar -> -
""",
    "Makefile": """
foo: bar baz -> foo
foo.o: foo.c -> foo.o
FOO := 1 -> FOO
FOO ?= 1 -> FOO
export FOO = 1 -> FOO
define foo -> foo
␉foo bar -> -
obj-y += foo.o -> -
# foo: bar -> -
include foo.mk -> -
.PHONY: foo -> -
""",
    "CMakeLists.txt": """
function(foo x) -> foo
add_library(foo STATIC a.c) -> foo
set(FOO 1) -> FOO
target_link_libraries(foo bar) -> -
# function(foo) -> -
""",
    "Kconfig": """
config FOO -> FOO
menuconfig FOO -> FOO
␉depends on FOO -> -
␉select FOO -> -
""",
    "a.sql": """
CREATE TABLE IF NOT EXISTS public.foo ( -> foo
create or replace function foo(x int) -> foo
CREATE UNIQUE INDEX foo ON bar (x) -> foo
SELECT * FROM foo -> -
INSERT INTO foo VALUES (1) -> -
DROP TABLE foo -> -
-- CREATE TABLE foo -> -
""",
    "a.proto": """
message Foo { -> Foo
service Foo { -> Foo
  rpc Foo(Bar) returns (Baz); -> Foo
  repeated Bar foo = 1; -> foo
enum Foo { -> Foo
import "foo.proto"; -> -
// message Foo { -> -
option foo = 1; -> -
""",
    "a.graphql": """
type Foo implements Bar { -> Foo
input Foo { -> Foo
fragment Foo on Bar { -> Foo
  foo: Foo -> -
""",
    "a.hs": """
foo :: Int -> Int -> foo
data Foo = Foo Int -> Foo
newtype Foo a = Foo a -> Foo
class Ord a => Foo a where -> Foo
foo x y = x -> foo
  bar (foo x) -> -
import Foo -> -
-- foo :: Int -> -
""",
    "a.ml": """
let foo x = x -> foo
let rec foo x = -> foo
type foo = int -> foo
type 'a foo = 'a list -> foo
module Foo = struct -> Foo
exception Foo of int -> Foo
  foo x -> -
  let y = foo x in -> -
open Foo -> -
""",
    "a.ex": """
  def foo(x) do -> foo
  defp foo?(x), do: x -> foo?
defmodule A.Foo do -> Foo
  @type foo :: integer -> foo
    foo(x) -> -
  alias A.Foo -> -
# def foo -> -
""",
    "a.erl": """
foo(X) -> X. -> foo
foo(X, Y) when X > Y -> -> foo
-define(FOO, 1). -> FOO
-record(foo, {a}). -> foo
-module(foo). -> foo
    foo(X), -> -
-export([foo/1]). -> -
% foo(X) -> -
""",
    "a.clj": """
(defn foo [x] -> foo
(defn- foo-bar [x] -> foo-bar
(def foo 1) -> foo
(ns a.foo) -> a.foo
(foo x) -> -
  (let [foo 1] -> -
; (defn foo -> -
""",
    "a.zig": """
pub fn foo(x: u32) u32 { -> foo
const Foo = struct { -> Foo
pub const foo = 1; -> foo
export fn foo() void { -> foo
    const Foo = struct { -> Foo
    foo(x); -> -
    const x = foo(y); -> -
// fn foo() -> -
""",
    "a.tf": """
resource "aws_instance" "foo" { -> foo
variable "foo" { -> foo
  foo = var.foo -> -
""",
    "a.css": """
.foo { -> foo
.foo, -> foo
a:hover .foo > b { -> foo
#foo { -> foo
$foo: 1px; -> foo
  --foo: 1px; -> foo
@mixin foo($x) { -> foo
@keyframes foo { -> foo
  color: foo; -> -
  @include foo; -> -
  width: var(--foo); -> -
/* .foo { */ -> -
""",
    "a.S": """
SYM_FUNC_START(foo) -> foo
ENTRY(foo) -> foo
foo: -> foo
.macro foo x -> foo
#define FOO 1 -> FOO
␉call foo -> -
SYM_FUNC_END(foo) -> -
""",
    "a.dts": """
␉foo: node@1 { -> foo
#define FOO 1 -> FOO
␉clocks = <&foo>; -> -
␉status = "foo"; -> -
""",
    "a.awk": """
function foo(x) { -> foo
  foo(x) -> -
""",
    "a.bat": """
:foo -> foo
call :foo -> -
goto foo -> -
""",
    "a.f90": """
subroutine foo(x) -> foo
  PURE INTEGER FUNCTION foo(x) -> foo
module foo -> foo
  type :: foo -> foo
  call foo(x) -> -
  end subroutine foo -> -
""",
    "a.jl": """
function foo(x) -> foo
foo(x) = x -> foo
mutable struct Foo -> Foo
macro foo(x) -> foo
    foo(x) -> -
# function foo -> -
""",
    "a.nim": """
proc foo(x: int) = -> foo
template foo(x: untyped) = -> foo
  foo(x) -> -
""",
    "a.ps1": """
function Get-Foo { -> Get-Foo
$Foo = 1 -> Foo
Get-Foo -Bar 1 -> -
    Write-Host $Foo -> -
""",
    "a.R": """
foo <- function(x) { -> foo
foo.bar = function(x) x -> foo.bar
foo(x) -> -
x <- foo(y) -> -
""",
    "a.tcl": """
proc foo {x} { -> foo
proc ::ns::foo {x} { -> foo
foo $x -> -
""",
    "a.v": """
module foo (input a); -> foo
  function [3:0] foo; -> foo
  task automatic foo; -> foo
`define FOO 1 -> FOO
  foo u1 (.a(a)); -> -
endmodule : foo -> -
""",
    "a.vim": """
function! s:foo(x) abort -> foo
let g:foo = 1 -> foo
call s:foo(x) -> -
  echo foo -> -
""",
}
"""File name → lines."""
