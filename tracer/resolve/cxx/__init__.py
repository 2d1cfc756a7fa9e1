"""Just enough C++ to say what a template instantiates to: values, names by the Itanium rules, headers, evaluation."""
