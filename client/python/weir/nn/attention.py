"""Attention of queries to keys, as jax.nn has it."""

from weir import core, dims, dtypes, location
from weir.eager import operation
from weir.nn import activations
from weir.numpy import elementwise, products


@operation
def dot_product_attention(
    query,
    key,
    value,
    bias=None,
    mask=None,
    *,
    scale=None,
    is_causal=False,
    query_seq_lengths=None,
    key_value_seq_lengths=None,
    local_window_size=None,
):
    """Values averaged by the softmax of the products of queries and keys.

    Args:
      query: [batch, t, heads, features], or without batch.
      key, value: [batch, s, groups, features]; each of the groups serves heads / groups heads in
        order.
      bias: added to the scaled products; broadcasts to [batch, heads, t, s], or None.
      mask: bool, which products count; broadcasts to the same, or None.
      scale: factor of the products, 1 / sqrt(features) by default.
      is_causal: whether a query sees only the keys up to its own place.
      query_seq_lengths: i32[batch], how many queries there are; results behind are 0.
      key_value_seq_lengths: i32[batch], how many keys there are.
      local_window_size: how many places to both sides a query sees, a number or a pair (left,
        right).

    Returns: [batch, t, heads, features], in the type of the query; the softmax is of f32 at least.
      A query that sees no key gets the mean of all values.

    Raises: ValueError where shapes do not fit.
    """
    arrays = core.promote_inexact(query, key, value)
    has_batch = arrays[0].ndim == 4
    if not has_batch:
        arrays = [core.expand_dims(x, [0]) if x.ndim == 3 else x for x in arrays]
    query, key, value = arrays
    _check_shapes(query, key, value)
    name = query.dtype_name
    batch, t, heads, features = query.shape
    s, groups = key.shape[1:3]
    if scale is None:
        scale = 1 / elementwise.sqrt(core.scalar(features, "f64"))
    scores = _scores(query, key, scale)
    if bias is not None:
        scores = scores + core.cast(_leading(bias, 4), scores.dtype_name)
    seen = _seen(batch, t, s, is_causal, key_value_seq_lengths, local_window_size)
    if mask is not None:
        seen.append(elementwise.astype(_leading(mask, 4), bool))
    for each in seen:
        scores = elementwise.where(each, scores, _LEAST_SCORE[scores.dtype_name])
    weights = core.cast(activations.softmax(scores), name)
    weights = core.reshape(weights, (batch, groups, _shared(heads, groups), t, s))
    out = products.einsum("bghts,bsgf->btghf", weights, value)
    out = core.reshape(out, (batch, t, heads, value.shape[-1]))
    if query_seq_lengths is not None:
        there = _shorter(query_seq_lengths, batch, t)
        out = elementwise.where(core.reshape(there, (batch, t, 1, 1)), out, 0)
    return out if has_batch else core.reshape(out, out.shape[1:])


def _scores(query, key, scale):
    """Returns: f32[batch, heads, t, s], or f64, the scaled products."""
    batch, t, heads, features = query.shape
    s, groups = key.shape[1:3]
    grouped = core.reshape(query, (batch, t, groups, _shared(heads, groups), features))
    scores = products.einsum("btghf,bsgf->bghts", grouped, key)
    scores = core.reshape(scores, (batch, heads, t, s))
    name = "f64" if query.dtype_name == "f64" else "f32"
    return core.to_dtype(scale, name) * core.cast(scores, name)


def _shared(heads, groups):
    """Returns: how many heads share a group."""
    return 1 if dims.same(heads, groups) else heads // groups


def _check_shapes(query, key, value):
    message = (
        "dot_product_attention takes a query [batch, t, heads, features] and a key and a value"
        " [batch, s, groups, features] whose groups divide the heads, found"
        f" {query.describe()}, {key.describe()} and {value.describe()}"
    )
    if not query.ndim == key.ndim == value.ndim == 4:
        raise ValueError(f"{message} ({location.text()})")
    pairs = [*zip(key.shape[:3], value.shape[:3]), *zip(key.shape[::3], query.shape[::3])]
    for a, b in pairs:
        if not dims.same(a, b):
            raise dims.unequal(a, b, message)
    heads, groups = query.shape[2], key.shape[2]
    if dims.same(groups, 0) or not (dims.same(heads, groups) or heads % groups == 0):
        raise ValueError(f"{message} ({location.text()})")


def _leading(x, ndim):
    array = core.as_array(x)
    return core.reshape(array, (1,) * (ndim - array.ndim) + array.shape)


# Far below every score, and finite, so that a row of nothing else has a softmax.
_LEAST_SCORE = {"f32": -2e38, "f64": -1e308}


def _shorter(lengths, batch, extent):
    """Returns: bool[batch, extent], which places come before the length."""
    lengths = core.as_array(lengths)
    message = f"lengths of sequences are integers [{batch}], found {lengths.describe()}"
    if lengths.dtype_name not in dtypes.INTEGERS or lengths.ndim > 1:
        raise ValueError(f"{message} ({location.text()})")
    if lengths.ndim and not dims.same(lengths.shape[0], batch):
        raise dims.unequal(lengths.shape[0], batch, message)
    lengths = core.broadcast_to(lengths, (batch,))
    return core.iota((batch, extent), 1, "i32") < core.expand_dims(lengths, [1])


def _seen(batch, t, s, is_causal, lengths, window):
    """Returns: masks that broadcast to [batch, heads, t, s]."""
    rows, columns = core.iota((1, 1, t, s), 2, "i32"), core.iota((1, 1, t, s), 3, "i32")
    found = []
    if is_causal:
        found.append(rows >= columns)
    if window is not None:
        left, right = (window, window) if isinstance(window, int) else window
        found.append((columns >= rows - left) & (columns <= rows + right))
    if lengths is not None:
        found.append(core.reshape(_shorter(lengths, batch, s), (batch, 1, 1, s)))
    return found
