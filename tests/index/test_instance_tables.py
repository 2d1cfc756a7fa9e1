"""The tables of instances in a generator's module."""

from __future__ import annotations

from tracer.index.instance_tables import InstanceTable, instance_tables


def test_one_table_is_given_with_the_instances_that_its_text_shows() -> None:
    text = "x = 1\nkernels_list = {\n    0: kernelInstance(256),\n    1: kernelInstance(128),\n}\n"
    text += "default_kernels_dict = {\n    (-1): kernelInstance(256),\n}\n"
    assert instance_tables(text.splitlines()) == [InstanceTable("kernels_list", 2, 2)]


def test_tables_that_others_hold_are_left_to_those() -> None:
    text = (
        "a8_gemm1_kernels_list = {\n    0: K(1),\n}\n"
        "a8_gemm2_kernels_list = {\n    0: K(2),\n}\n"
        'gemm1_kernels_dict = {\n    "a8": a8_gemm1_kernels_list,\n}\n'
        'gemm2_kernels_dict = {\n    "a8": a8_gemm2_kernels_list,\n}\n'
    )
    tables = instance_tables(text.splitlines())
    assert [(table.name, table.line, table.count) for table in tables] == [
        ("gemm1_kernels_dict", 7, None),
        ("gemm2_kernels_dict", 10, None),
    ]


def test_an_empty_table_ends_on_its_own_line() -> None:
    text = "first_kernels_list = {}\nkernels_list = {\n    **first_kernels_list,\n}\n"
    assert [table.name for table in instance_tables(text.splitlines())] == ["kernels_list"]
