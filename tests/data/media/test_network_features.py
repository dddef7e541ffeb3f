"""Networks given as ONNX files: small ones made here, whose results NumPy gives too."""

import sys

import numpy as np
import pytest
from PIL import Image

from assay.data.media.folders import open_folder
from assay.data.media.images import in_grey
from assay.errors import DataError, ParameterError

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
TensorProto, helper, numpy_helper = onnx.TensorProto, onnx.helper, onnx.numpy_helper

RNG = np.random.default_rng(5)
COLOUR = RNG.integers(0, 256, (6, 9, 3), dtype=np.uint8)
PICTURES = np.stack([np.roll(COLOUR, i, axis=0) for i in range(5)]) / 255


def matrix(source):
    return np.concatenate(list(source.float_blocks()))


def network(path, nodes, shape, weights=(), type_=TensorProto.FLOAT, inputs=1, **options):
    given = [helper.make_tensor_value_info(f"x{i}", type_, shape) for i in range(inputs)]
    graph = helper.make_graph(
        nodes, "g", given, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], list(weights)
    )
    onnx.save_model(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path, **options
    )
    return path


def flat_product(path, shape, W, **options):
    weights = [numpy_helper.from_array(W.astype(np.float32), "W")]
    nodes = [helper.make_node("Flatten", ["x0"], ["f"]), helper.make_node("MatMul", ["f", "W"], ["y"])]
    return network(path, nodes, shape, weights, **options)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "images"
    place.mkdir()
    for i in range(5):
        Image.fromarray(np.roll(COLOUR, i, axis=0)).save(place / f"{i}.png")
    return place


@pytest.mark.parametrize("batch", ["n", 1, 2])
def test_a_network_with_channels_first_gives_numpys_product(tmp_path, folder, batch):
    W = RNG.standard_normal((6 * 9 * 3, 4))
    source = open_folder(folder, features=flat_product(tmp_path / "net.onnx", [batch, 3, 6, 9], W))
    oracle = np.moveaxis(PICTURES, 3, 1).reshape(5, -1) @ W
    np.testing.assert_allclose(matrix(source), oracle, atol=1e-4)
    assert source.numeric_columns == ("feature 1", "feature 2", "feature 3", "feature 4")
    assert "6 x 9 coloured pixels from 0 to 1 and put through the network net.onnx" in source.notes[0]


def test_a_network_with_channels_last_gives_numpys_product(tmp_path, folder):
    W = RNG.standard_normal((6 * 9 * 3, 2))
    source = open_folder(folder, features=str(flat_product(tmp_path / "net.onnx", ["n", 6, 9, 3], W)))
    np.testing.assert_allclose(matrix(source), PICTURES.reshape(5, -1) @ W, atol=1e-4)


def test_a_grey_network_is_given_grey(tmp_path, folder):
    W = np.ones((6 * 9, 1))
    source = open_folder(folder, features=flat_product(tmp_path / "net.onnx", ["n", 1, 6, 9], W))
    oracle = in_grey(PICTURES.astype(np.float32).reshape(-1, 9, 3)).reshape(5, -1).sum(axis=1)
    np.testing.assert_allclose(matrix(source)[:, 0], oracle, rtol=1e-5)


def pooled(path, shape):
    """The mean of relu(x - 0.5) of each channel, for any size."""
    weights = [
        numpy_helper.from_array(np.eye(3, dtype=np.float32)[:, :, None, None], "K"),
        numpy_helper.from_array(np.full(3, -0.5, np.float32), "b"),
    ]
    nodes = [
        helper.make_node("Conv", ["x0", "K", "b"], ["c"]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["y"]),
    ]
    return network(path, nodes, shape, weights)


def test_a_network_of_open_size_takes_the_size_asked_for(tmp_path, folder):
    net = pooled(tmp_path / "net.onnx", ["n", 3, "h", "w"])
    source = open_folder(folder, features=net, size=(6, 9))
    np.testing.assert_allclose(matrix(source), np.maximum(PICTURES - 0.5, 0).mean(axis=(1, 2)), atol=1e-6)
    usual = open_folder(folder, features=net)
    assert matrix(usual).shape == (5, 3) and "224 x 224 coloured" in usual.notes[0]


def test_bytes_are_given_as_bytes(tmp_path, folder):
    nodes = [
        helper.make_node("Cast", ["x0"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["f"], ["y"], axes=[1, 2], keepdims=0),
    ]
    net = network(tmp_path / "net.onnx", nodes, ["n", 6, 9, 3], type_=TensorProto.UINT8)
    np.testing.assert_allclose(matrix(open_folder(folder, features=net)), 255 * PICTURES.mean(axis=(1, 2)), rtol=1e-5)


def test_networks_that_cannot_be_used_are_refused(tmp_path, folder, monkeypatch):
    W = np.ones((6 * 9 * 3, 2))
    path = tmp_path / "net.onnx"
    with pytest.raises(DataError, match=r"none.onnx: there is no such file"):
        open_folder(folder, features=tmp_path / "none.onnx")
    path.write_bytes(b"no network")
    with pytest.raises(DataError, match=r"net.onnx: it is not a network that onnxruntime can run: "):
        open_folder(folder, features=path)
    with pytest.raises(ParameterError, match=r"size is \(5, 5\), but the network .* takes images of \(6, 9\); leave"):
        open_folder(folder, features=flat_product(path, ["n", 3, 6, 9], W), size=5)
    with pytest.raises(DataError, match=r"must be numbers of shape \(n, channels, height, width\) or .* is tensor"):
        open_folder(folder, features=flat_product(path, ["n", 162], W))
    with pytest.raises(DataError, match=r"images have 1 or 3 channels, its input 'x0' has shape \['n', 7, 6, 9\]"):
        open_folder(folder, features=flat_product(path, ["n", 7, 6, 9], np.ones((7 * 6 * 9, 2))))
    two = network(path, [helper.make_node("Add", ["x0", "x1"], ["y"])], ["n", 3, 6, 9], inputs=2)
    with pytest.raises(DataError, match=r"a network for images has one input, this one has 2"):
        open_folder(folder, features=two)
    with pytest.raises(DataError, match=r"cannot run .* on images of shape \(3, 5, 5\): "):
        _ = open_folder(folder, features=flat_product(path, ["n", 3, "h", "w"], W), size=5).arrow_schema
    summed = network(path, [helper.make_node("ReduceSum", ["x0"], ["y"], keepdims=0)], ["n", 3, 6, 9])
    with pytest.raises(DataError, match=r"its first output must have one row of numbers for each image"):
        _ = open_folder(folder, features=summed).arrow_schema
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(
        ParameterError, match=r"need onnxruntime, which is not installed; run pip install 'assay\[onnx\]'"
    ):
        open_folder(folder, features=flat_product(path, ["n", 3, 6, 9], W))


def test_weights_beside_a_network_are_not_read(tmp_path, folder, monkeypatch):
    W = np.ones((6 * 9 * 3, 2))
    options = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
    path = flat_product(tmp_path / "net.onnx", ["n", 3, 6, 9], W, **options)
    monkeypatch.chdir(tmp_path)  # where onnxruntime would look for them
    with pytest.raises(DataError, match=r"its weights lie in another file, which is not read; save the network with"):
        open_folder(folder, features=path)
