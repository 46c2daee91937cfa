// Draws a chart when it comes into view. Plotly is fetched for the first of them and never on other pages.
import { word } from "./words.js";

let plotly;

const script = (source) => new Promise((done, failed) => {
  const element = document.createElement("script");
  element.src = source;
  element.onload = () => done(window.Plotly);
  element.onerror = () => failed(new Error(word("noLibrary")));
  document.head.append(element);
});

// Figures name colours by token ("var(--accent)"); plotly needs their values in the current theme.
function coloured(value, styles) {
  if (typeof value === "string") return value.replace(/var\((--[\w-]+)\)/g, (_, name) => styles.getPropertyValue(name).trim());
  if (Array.isArray(value)) return value.map((item) => coloured(item, styles));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item, styles)]));
  return value;
}

function narrowed(layout, plot) {
  if (plot.clientWidth > 560) return layout;
  const annotations = (layout.annotations || []).filter((note) => note.name !== "wide");
  const margin = { ...layout.margin, r: Math.min(layout.margin?.r ?? 16, 64) };
  const xaxis = { ...layout.xaxis, nticks: 4 };
  return { ...layout, annotations, margin, xaxis };
}

async function draw(plot) {
  try {
    plotly ??= script(plot.dataset.plotly);
    const [Plotly, answer] = await Promise.all([plotly, fetch(plot.dataset.chart)]);
    if (!answer.ok) throw new Error(word("answered", { number: answer.status }));
    const figure = await answer.json();
    const show = () => {
      const { data, layout } = coloured(figure, getComputedStyle(document.documentElement));
      const config = { displayModeBar: false, displaylogo: false, showSendToCloud: false, responsive: true, scrollZoom: false, doubleClick: false };
      plot.querySelector(".waiting")?.remove();
      Plotly.react(plot, data, { ...narrowed(layout, plot), autosize: true }, config);
      plot.dataset.drawn = "yes";
    };
    show();
    document.addEventListener("theme", show);
    plot.on("plotly_click", (event) => {
      const link = event.points?.[0]?.customdata?.href;
      if (link) location.assign(link);
    });
  } catch (error) {
    const words = plot.querySelector(".waiting") || plot.appendChild(document.createElement("p"));
    words.className = "waiting";
    words.textContent = word("notDrawn", { problem: error.message });
  }
}

export function drawWhenSeen() {
  const seen = new IntersectionObserver((entries) => entries.forEach(({ isIntersecting, target }) => {
    if (!isIntersecting) return;
    seen.unobserve(target);
    draw(target);
  }), { rootMargin: "200px" });
  document.querySelectorAll("[data-chart]").forEach((plot) => seen.observe(plot));
}
