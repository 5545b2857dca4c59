"""The project's own benchmarks: what a derivative costs, in evaluations of the function itself.

python -m benchmarks                     a table, beside every peer that is installed
python -m benchmarks --quick             the same in half a minute
python -m benchmarks --json run.json     keep the run
python -m benchmarks --compare run.json  what became slower since
"""
