"""A language server for loadouts, by the Language Server Protocol (LSP).

What an editor holds are buffers. A process of its own checks them, and tells what it found and what it knows
of the names in them; the questions of an editor are answered from that, from the text as it last was sound,
and from the words around the cursor.
"""
