"""materiac as an agent of the Agent Client Protocol (ACP), so that editors run casts.

A session is a talk in an editor. Each prompt is a request, and becomes a cast; or it is what a person says
to a cast that waits for that. Casts run in processes of their own, whose records become updates.
"""
