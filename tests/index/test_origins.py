"""What a variable is made from, by a function's own text."""

from __future__ import annotations

from tracer.index.origins import origins

_TWO_KERNELS = """\
int run(Args a)
{
    auto first_table  = &cfg_first;
    auto second_table = [&]() {
        if(a.wide) { return &cfg_second; }
        return &cfg_third;
    }();
    auto [first_key, second_key] = keys_of(a, first_table, second_table);
    Kernel* first  = nullptr;
    Kernel* second = nullptr;
    static Cache map;
    auto it = first_table->find(first_key);
    if(it != first_table->end())
    {
        const auto& row  = it->second;
        const char* name = row.name.c_str();
        first = &map.get(name, [&]() { return Kernel(name); });
    }
    auto other = second_table->find(second_key);
    if(other != second_table->end())
    {
        const auto& row  = other->second;
        const char* name = row.name.c_str();
        second = &map.get(name, [&]() { return Kernel(name); });
    }
    first->launch_kernel(a);
    second->launch_kernel(a);
}
"""


def _tables(text: str, variable: str, use: str) -> list[str]:
    found = " ".join(origins(text, variable, text.index(use)))
    return sorted(word for word in ("cfg_first", "cfg_second", "cfg_third") if word in found)


def test_two_kernels_of_one_function_come_from_their_own_tables() -> None:
    assert _tables(_TWO_KERNELS, "first", "first->launch") == ["cfg_first"]
    assert _tables(_TWO_KERNELS, "second", "second->launch") == ["cfg_second", "cfg_third"]


def test_a_declaration_in_a_block_hides_the_outer_one_only_inside() -> None:
    inner = '    if(x)\n    {\n        K k("b.co");\n        k.go(1);\n    }\n'
    text = 'void f()\n{\n    K k("a.co");\n' + inner + "    k.go(2);\n}\n"
    assert origins(text, "k", text.index("k.go(1)")) == ('"b.co"',)
    assert origins(text, "k", text.index("k.go(2)")) == ('"a.co"',)


def test_every_assignment_before_the_use_counts_and_none_behind_it() -> None:
    text = (
        "void f()\n{\n    T* t = nullptr;\n    if(x) t = &one;\n    else t = &two;\n    use(t);\n    t = &three;\n}\n"
    )
    assert [value.strip() for value in origins(text, "t", text.index("use(t)"))] == ["nullptr", "&one", "&two"]


def test_a_variable_without_a_value_has_no_origin() -> None:
    assert origins("void f(T* t)\n{\n    t->go();\n}\n", "t", 20) == ()
    assert origins("", "t", 0) == ()


def test_variables_that_are_made_from_each_other_end() -> None:
    text = "void f()\n{\n    int a = b + 1;\n    int b = a;\n    a = b;\n    use(a);\n}\n"
    assert origins(text, "a", text.index("use"))
