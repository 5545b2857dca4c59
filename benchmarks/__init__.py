"""The project's own benchmarks: what a derivative costs, in evaluations of the function itself.

python -m benchmarks                    a table, beside every peer that is installed
python -m benchmarks --quick            the same in a minute, without the long ones
python -m benchmarks --only mlp ops     workloads whose names begin so
python -m benchmarks --compare          what became slower since the stored run
python -m benchmarks --json run.json    keep the run
python -m benchmarks --page page.md     write the page of the documentation
python -m benchmarks.profile mlp vag    where the time of one job goes
"""
