"""Drift: does a fresh run still equal its fixture, and if not, what changed, and is that a change at all?

    sides         scenarios of a folder: fixtures, or what runs left behind; which belong together
    comparable    what of a scenario is compared, line by line
    alignment     which line of one side stands for which of the other
    leaves        which members of two lines differ
    comparison    the rows of both sides as tables, and the rules of ``queries/drift`` over them
    verdict       what comes out

Rows, causes and verdicts are queries; Python reads, normalises and aligns.

Source: spec/snapshot-kit.md sections 6 to 8 and 11; spec/interface.md (fixtures drift).
"""
