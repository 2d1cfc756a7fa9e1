#pragma once
enum class ActivationType : int
{
    No = -1, // none at all
    Silu,
    Gelu = 1,
};
enum class QuantType : int
{
    No,
    per_Tensor,
    per_Token,
    per_1x32,
    per_1x128,
};
