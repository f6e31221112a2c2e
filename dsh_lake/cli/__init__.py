"""The command line: parse, call one public function, print, exit. Nothing is decided here.

stdout is results, stderr is everything else. Nothing but typer is imported before a command runs.
"""
