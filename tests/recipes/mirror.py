"""The structures of runtime/kernel/kernel.h, field for field, for calls through ctypes."""

import ctypes as C

ONE_WAY, WHEEL, CHAINS, CHAINS_TO_0, PLAIN, LANES, ROW_LANES = range(7)  # TcWay


class Place(C.Structure):
    _fields_ = [("offset", C.c_int64), ("total", C.c_int64), ("threads", C.c_int)]


class Operand(C.Structure):
    _fields_ = [("p", C.c_void_p), ("row", C.c_int64), ("col", C.c_int64)]


class Pieces(C.Structure):
    _fields_ = [(name, C.c_int64) for name in ("rows", "cols", "k")]


class Matmul(C.Structure):
    _fields_ = [(name, C.c_void_p) for name in ("x", "w", "packed", "bias", "out")]
    _fields_ += [(name, C.c_int64) for name in ("m", "k", "n", "x_step")]
    _fields_ += [("transposed", C.c_bool), ("way", C.c_int), ("chain", C.c_int64), ("pieces", Pieces)]


class Norm(C.Structure):
    _fields_ = [(name, C.c_void_p) for name in ("x", "weight", "bias", "mean", "var", "out")]
    _fields_ += [(name, C.c_int64) for name in ("rows", "cols", "inner")]
    _fields_ += [("eps", C.c_double)]


class Pick(C.Structure):
    _fields_ = [("x", C.c_void_p), ("values", C.c_void_p), ("indices", C.c_void_p)]
    _fields_ += [("rows", C.c_int64), ("cols", C.c_int64), ("k", C.c_int64), ("axis", C.c_int)]
    _fields_ += [("largest", C.c_bool), ("sorted", C.c_bool)]


class Conv(C.Structure):
    _fields_ = [(name, C.c_void_p) for name in ("x", "w", "bias", "out", "columns")]
    _fields_ += [(name, C.c_int64) for name in ("batch", "channels", "length", "filters", "width", "out_length")]
    _fields_ += [("stride", C.c_int64), ("dilation", C.c_int64), ("padding", C.c_int64)]


class Matrices(C.Structure):
    _fields_ = [("p", C.c_void_p), ("step", C.c_int64), ("row", C.c_int64), ("col", C.c_int64)]


class Bmm(C.Structure):
    _fields_ = [("x", Matrices), ("w", Matrices), ("out", C.c_void_p), ("scratch", C.c_void_p)]
    _fields_ += [(name, C.c_int64) for name in ("batch", "m", "k", "n")]
    _fields_ += [("way", C.c_int), ("chain", C.c_int64)]


class Law(C.Structure):
    _fields_ = [("name", C.c_char * 12), ("chain", C.c_int), ("up", C.c_int), ("most_k", C.c_int), ("to_0", C.c_int)]
    _fields_ += [("rows", C.c_uint64 * 2), ("cols", C.c_uint64 * 2), ("small", C.c_bool)]


class Case(C.Structure):
    _fields_ = [("rows", C.c_int64), ("cols", C.c_int64), ("k", C.c_int64), ("axis", C.c_int), ("matrices", C.c_int64)]
    _fields_ += [("bias", C.c_bool), ("transposed", C.c_bool), ("threads", C.c_int), ("full", C.c_bool), ("row", C.c_bool)]
    _fields_ += [("conv", C.POINTER(Conv)), ("bmm", C.POINTER(Bmm)), ("law", C.POINTER(Law))]


class Rule(C.Structure):
    _fields_ = [("exact", C.c_bool), ("blocks", C.c_bool)]
    _fields_ += [(name, C.c_int64) for name in ("min_rows", "align", "pack_elems")]
    _fields_ += [("way", C.c_int), ("chain", C.c_int64), ("pieces", Pieces)]


class Recipe(C.Structure):
    _fields_ = [("name", C.c_char_p), ("class", C.c_int), ("rule", C.CFUNCTYPE(Rule, C.c_int, C.POINTER(Case)))]
    _fields_ += [("kernel", C.c_void_p * 3), ("next", C.c_void_p)]
