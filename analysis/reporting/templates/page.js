// Draws every figure in the colours of the page, follows the system's light or dark, and fits paper.
(() => {
  const looks = JSON.parse(document.getElementById("looks").textContent);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const plots = [...document.querySelectorAll(".plot")];
  const PAPER = 680; // px: the width of a page between its margins

  const look = () => (scheme.matches ? looks.dark : looks.light);
  for (const plot of plots) {
    const { data, layout } = JSON.parse(plot.nextElementSibling.textContent);
    Plotly.newPlot(plot, data, { ...layout, template: look() }, { displayModeBar: false, responsive: true });
  }
  scheme.addEventListener("change", () => plots.forEach((plot) => Plotly.relayout(plot, { template: look() })));

  addEventListener("beforeprint", () => {
    plots.forEach((plot) => Plotly.relayout(plot, { template: looks.light, width: PAPER, autosize: false }));
  });
  addEventListener("afterprint", () => {
    plots.forEach((plot) => Plotly.relayout(plot, { template: look(), width: null, autosize: true }));
  });

  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.classList.add("copied");
        setTimeout(() => button.classList.remove("copied"), 1200);
      } catch {
        button.textContent = button.dataset.copy; // a frame that may not copy: the command to copy by hand
      }
    });
  }
})();
