"""ONNX models as functions, alone and mapped."""

import numpy as np
import pytest

import weir
import weir.numpy as wnp

MODELS = [("cnn.onnx", "image.npy", "cnn_logits.npy"), ("lstm.onnx", "rows.npy", "lstm_logits.npy")]


@pytest.fixture(params=MODELS, ids=["cnn", "lstm"])
def model(request, digits):
    """(model, inputs of many examples, their results)."""
    file, inputs, results = request.param
    return weir.load_onnx(digits / file), np.load(digits / inputs), np.load(digits / results)


def test_one_example(model):
    function, inputs, results = model
    np.testing.assert_allclose(function(inputs[0]), results[0], rtol=1e-3, atol=1e-3)
    name = function.inputs[0][0]
    np.testing.assert_array_equal(function(**{name: inputs[0]}), function(inputs[0]))


def test_mapped(model):
    function, inputs, results = model
    got = weir.jit(weir.vmap(function))(inputs[:100])
    np.testing.assert_allclose(got, results[:100], rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(got[:7], weir.vmap(function, chunk_size=3)(inputs[:7]))


def test_mapping_has_no_fallback(model):
    function, inputs, _ = model
    assert weir.explain(weir.vmap(function), inputs[:8]).fallbacks == []
    weir.vmap(function, strict=True)(inputs[:3])


def test_part_of_a_program(model):
    function, inputs, results = model

    @weir.jit
    def accuracy(inputs, labels):
        predicted = weir.vmap(lambda x: wnp.argmax(function(x)))(inputs)
        return wnp.mean(predicted == labels)

    assert accuracy(inputs[:50], results[:50].reshape(50, -1).argmax(-1)) == 1


def test_inputs_are_checked(model):
    function, inputs, _ = model
    with pytest.raises(TypeError, match="lacks its inputs"):
        function()
    with pytest.raises(TypeError, match="no input; the inputs are"):
        function(nothing=inputs[0])
    with pytest.raises(weir.InvalidArgument, match="f32"):
        function(inputs)


def test_files(digits, tmp_path):
    with pytest.raises(FileNotFoundError):
        weir.load_onnx(tmp_path / "none.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"this is no model")
    with pytest.raises(weir.InvalidArgument, match="bad.onnx"):
        weir.load_onnx(tmp_path / "bad.onnx")
    assert "func @main" in weir.load_onnx(digits / "cnn.onnx").text
