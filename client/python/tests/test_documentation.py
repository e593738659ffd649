"""What help() shows: each public name, with what it takes, returns and raises."""

import inspect
import pydoc
import types

import pytest

import weir

MODULES = [
    weir,
    weir.autodiff,
    weir.flow,
    weir.lax,
    weir.nn,
    weir.numpy,
    weir.numpy.fft,
    weir.numpy.linalg,
    weir.random,
    weir.special,
    weir.tree,
]


def _undocumented(name, value):
    """Returns: the names of `value`, and of the members of a class, without a docstring."""
    found = [] if (inspect.getdoc(value) or "").strip() else [name]
    if inspect.isclass(value) and value.__module__.startswith("weir"):
        for member, what in vars(value).items():
            is_data = isinstance(what, types.MemberDescriptorType)
            if not member.startswith("_") and not is_data:
                found += _undocumented(f"{name}.{member}", getattr(value, member))
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_is_documented(module):
    assert len(set(module.__all__)) == len(module.__all__) > 5
    missing = []
    for name in module.__all__:
        value = getattr(module, name)
        if callable(value) or inspect.ismodule(value):
            missing += _undocumented(name, value)
    assert not missing


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_function_made_for_users_is_public(module):
    own = [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and not name.startswith("_")
        and value.__module__.startswith(module.__name__)
    ]
    assert not set(own) - set(module.__all__)


def test_help_shows_functions_that_other_files_define():
    text = pydoc.plain(pydoc.render_doc(weir))
    for name in ("vmap(function, in_axes=0", "while_loop(cond, body, init)", "class List"):
        assert name in text
    assert "sigmoid(x)" in pydoc.plain(pydoc.render_doc(weir.nn))


def test_an_op_tells_its_operands_and_attributes():
    text = weir.lax.concatenate.__doc__
    assert "Operands: 1 or more by position." in text and "axis (int)" in text
    assert "Operands: 2 by position." in weir.lax.add.__doc__
    assert "Operands: 0 by position." in weir.lax.iota.__doc__
