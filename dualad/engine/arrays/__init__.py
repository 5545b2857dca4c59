"""Plain arrays: their memory, and what is computed on them without knowing of derivatives.

The memory of large arrays is used again (`memory`), and may be written over where nobody else
holds it (`spent`); who owns which memory, and how often it was written, is in `storage`. Large
arrays are cut into blocks that fit the cache (`cutting`), summed (`sums`), and have their short
rows made long (`rows`). Zero wins over infinity in `guard`; `bits` compares to the last bit.

It may import: levels.
"""
