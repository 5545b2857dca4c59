"""The engine: levels, traced arrays, primitives, linear programs. It knows no formula."""
