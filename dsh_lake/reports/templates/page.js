"use strict";
// On paper nothing can be unfolded.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  for (const details of unfolded) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of unfolded) details.open = false;
});
// Draws every chart of the page. Expressions are interpreted, not compiled, so that the page's policy need not
// allow text to be run as a script.
for (const { name, spec } of JSON.parse(document.getElementById("charts").textContent)) {
  vegaEmbed("#chart-" + name, spec, { mode: "vega-lite", actions: false, renderer: "svg", ast: true })
    .catch((error) => {
      document.getElementById("chart-" + name).textContent = "This chart could not be drawn: " + error.message;
      console.error(error);
    });
}
