# lane: tensorflow
import jaxtyping
import tensorflow as tf
from jaxtyping import Float, Float32, Int64
from tensorflow import Tensor


def float32_matrix(x: Float32[tf.Tensor, "b d"], w: Float32[tf.Tensor, "d h"]) -> Float32[tf.Tensor, "b h"]:
    return tf.matmul(x, w)


def no_call(x: Float[Tensor, "b d"], y: jaxtyping.Float32[tf.Tensor, "d"]) -> Float[Tensor, "b d"]:
    return x + y


def classes(x: Float32[tf.Tensor, "b d"]) -> Int64[tf.Tensor, "b"]:
    return tf.argmax(x, axis=1)


def quoted(x: "Float32[tf.Tensor, 'b d']") -> "Float32[tf.Tensor, 'b d']":
    return tf.nn.tanh(x)


def other_tensor(x: Float32[tf.Variable, "b d"]) -> Float32[tf.Variable, "b d"]:
    return tf.nn.tanh(x)


def any_rank(x: Float32[tf.Tensor, "..."]) -> Float32[tf.Tensor, "..."]:
    return tf.nn.tanh(x)

# >>> check
# float32_matrix native rextio-tensorflow/matmul-f32-cpu-2d
# no_call native rextio-tensorflow/add-binop-f32-cpu
# classes native rextio-tensorflow/argmax-axis1-i64-cpu-2d
# quoted native rextio-tensorflow/tanh-f32-cpu-2d
# other_tensor not-candidate RXT002 @ 24:20-24:47, RXT003 @ 24:52-24:79
# any_rank not-candidate RXT002 @ 28:16-28:41, RXT003 @ 28:46-28:71
# >>> run
# float32_matrix(any2(3, 17), any2(17, 5))
# no_call(any2(3, 17), any1(17)); no_call(any2(16, 8), any1(8)); no_call(rand(200, 33), specials(33))
# no_call(rand(0, 5), rand(5)); no_call(rand(3, 4), rand(1))
# classes(any2(empty=False)); classes(rand(200, 33))
# quoted(any2()); quoted(rand(200, 33))
