"""Running casts: what happens in a visit, what is kept, what is written down."""
