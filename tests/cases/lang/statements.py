# lane: torch
import torch
from tensorc.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def docstring(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    """Rectifies. */ /* ??/ % \\ "quoted" größe

    x: any rows.
    """
    return x.relu()


def raw_docstring(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    r"""\n \x00"""
    return x.relu()


def docstring_only(x: TensorF32Cpu2D) -> None:
    "Nothing else."


def string_statement(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    x = x.relu()
    "a remark"
    ...
    3
    return x


def passes(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    pass
    return x.relu()


def one_line(x: TensorF32Cpu2D) -> TensorF32Cpu2D: return x.relu()


def semicolons(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    y = x.relu(); z = y.tanh(); return z


def continuation(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x \
        + x


def parentheses(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return (
        (x)
        + (  # a comment in between
            x
        )
    )


def prints(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    print("tensorc-case")
    return x.relu()


def nested_function(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    def inner(y: TensorF32Cpu2D) -> TensorF32Cpu2D:
        return y.relu()

    return inner(x)


def lambda_inside(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    f = lambda y: y.relu()
    return f(x)


def imports_inside(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    import torch.nn.functional as G

    return G.relu(x)


def with_inside(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    with torch.no_grad():
        return x.relu()


def comprehension(n: int) -> int:
    return sum([i for i in range(n)])


def formatted(n: int) -> str:
    return f"{n}"


def matched(n: int) -> int:
    match n:
        case 0:
            return 10
        case _:
            return 20


def generator(n: int):
    yield n


async def coroutine(n: int) -> int:
    return n


def calls_another(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return passes(x).tanh()


def calls_itself(n: int) -> int:
    if n <= 0:
        return 0
    return calls_itself(n - 1) + 1

# >>> check
# docstring native rextio-torch/tensor-relu-f32-cpu-2d
# raw_docstring native rextio-torch/tensor-relu-f32-cpu-2d
# docstring_only native
# string_statement native rextio-torch/tensor-relu-f32-cpu-2d
# passes native rextio-torch/tensor-relu-f32-cpu-2d
# one_line native rextio-torch/tensor-relu-f32-cpu-2d
# semicolons native rextio-torch/tensor-relu-f32-cpu-2d rextio-torch/tensor-tanh-f32-cpu-2d
# continuation native rextio-torch/tensor-add-f32-cpu-same-rank
# parentheses native rextio-torch/tensor-add-f32-cpu-same-rank
# prints native rextio-torch/tensor-relu-f32-cpu-2d
# nested_function rejected RXT010 @ 63:4-64:23, RXT030 @ 66:11-66:19
# nested_function.<locals>.inner not-candidate RXT010 @ 63:8-63:13
# lambda_inside rejected RXT010 @ 70:8-70:26, RXT030 @ 71:11-71:15
# imports_inside rejected RXT010 @ 75:4-75:35
# with_inside rejected RXT010 @ 81:4-82:23
# comprehension rejected RXT030 @ 86:11-86:37
# formatted not-candidate RXT003 @ 89:25-89:28
# matched rejected RXT010 @ 94:4-98:21
# generator not-candidate RXT010 @ 101:4-101:13
# coroutine not-candidate RXT010 @ 105:10-105:19
# calls_another rejected RXT092 @ 110:11-110:20
# calls_itself rejected RXT092 @ 116:11-116:30
# >>> run
# docstring(rand(2, 3)); raw_docstring(rand(2, 3)); docstring_only(rand(2, 3)); string_statement(rand(2, 3)); passes(rand(2, 3))
# one_line(rand(2, 3)); semicolons(rand(2, 3)); continuation(rand(2, 3)); parentheses(rand(2, 3)); prints(rand(2, 3))
# nested_function(rand(2, 3)); lambda_inside(rand(2, 3)); imports_inside(rand(2, 3)); with_inside(rand(2, 3)); comprehension(4)
# formatted(3); matched(0); matched(1); calls_another(rand(2, 3)); calls_itself(5)
