"""Lightning: the parameters that the summary of a model counts. NeMo prints it as well."""

from __future__ import annotations

from pipeline.formats.format import Pattern, Value

#: Before adapters are there, and in NeMo once more when they are.
PARAMETERS = Pattern(
    name="parameters",
    table="facts",
    versions="Lightning 1.5 to 2.6",
    literals=(" Trainable params", " Total params"),
    regex=r"^ *(?P<value>\d[\d.,]*(?: [KMBT])?) +(?P<key>Trainable|Total) params\s*$",
    columns={
        "key": Value("key", mapping={"Trainable": "rank_params_trainable", "Total": "rank_params_all"}),
        "value": Value("value"),
    },
    note="Of the part of the model that the first rank holds, in three digits: how many of them are trained.",
)
