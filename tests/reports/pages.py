"""A page as a browser's parser sees it: its elements, its text, its tables. Written apart from what writes
pages."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

_WITHOUT_END = {"meta", "link", "img", "br", "hr", "input"}


class ParsedPage(HTMLParser):
    """Attributes: ``elements`` (name and attributes of each), ``text`` (outside of scripts and styles),
    ``scripts`` (their texts), ``tables`` (rows of cells of each)."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self._texts: dict[str, list[str]] = {"dt": [], "value": []}
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _WITHOUT_END:
            self._open.append(tag)
        if tag == "script":
            self.scripts.append("")
        elif tag == "dt":
            self._texts["dt"].append("")
        elif dict(attrs).get("class") == "value":
            self._texts["value"].append("")
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "script" in self._open:
            self.scripts[-1] += data
        elif "style" not in self._open:
            self.text += data
            innermost = self._open[-1] if self._open else ""
            if innermost == "dt":
                self._texts["dt"][-1] += data
            elif innermost == "dd" and len(self._texts["value"]) == len(self._texts["dt"]):
                self._texts["value"][-1] = self._texts["value"][-1] or data
            if {"td", "th"} & set(self._open):
                self.tables[-1][-1][-1] += data

    def table(self, *headings: str) -> list[dict[str, str]]:
        """The rows of the one table that has these columns, by heading."""
        (found,) = [table for table in self.tables if set(headings) <= {cell.strip() for cell in table[0]}]
        names = [cell.strip() for cell in found[0]]
        return [dict(zip(names, (cell.strip() for cell in row), strict=True)) for row in found[1:]]

    @property
    def figures(self) -> dict[str, str]:
        """The headline figures by their label."""
        return dict(zip(self._texts["dt"], self._texts["value"], strict=False))

    @property
    def chart_values(self) -> dict[str, list[dict[str, Any]]]:
        """What each chart draws, by its name."""
        (data,) = [
            script
            for script, (_, attributes) in zip(
                self.scripts, (one for one in self.elements if one[0] == "script"), strict=True
            )
            if attributes.get("type") == "application/json"
        ]
        specs = {chart["name"]: chart["spec"] for chart in json.loads(data)}
        return {name: spec["datasets"][spec["data"]["name"]] for name, spec in specs.items()}
