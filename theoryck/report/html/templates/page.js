"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const made = (tag, fields) => Object.assign(document.createElement(tag), fields);
  const root = document.documentElement;

  // Theme: what the system asks for, unless a reader chooses.
  const themes = ["auto", "light", "dark"];
  const theme = made("button", { type: "button", className: "theme", textContent: "Theme: auto" });
  theme.addEventListener("click", () => {
    const next = themes[(themes.indexOf(root.dataset.theme || "auto") + 1) % themes.length];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    theme.textContent = "Theme: " + next;
  });
  document.querySelector("header").append(theme);

  // Claims that are not seen are not laid out: those around the target get their heights only while it comes near, and move it.
  // So it is scrolled to until it stays, unless the reader scrolls first.
  const STILL = 4, LONGEST = 90;
  let jump = 0;
  const settle = (target) => {
    const own = ++jump;
    let last = NaN, still = 0, left = LONGEST;
    const step = () => {
      if (own !== jump) return;
      target.scrollIntoView();
      const top = Math.round(target.getBoundingClientRect().top);
      still = top === last ? still + 1 : 0;
      last = top;
      left -= 1;
      if (still < STILL && left) requestAnimationFrame(step);
    };
    step();
  };
  for (const moved of ["wheel", "touchstart", "keydown", "pointerdown"]) addEventListener(moved, () => { jump += 1; }, { passive: true, capture: true });

  // A link to a claim opens it, also where the browser does not.
  const reveal = () => {
    const target = location.hash && byId(location.hash.slice(1));
    if (!target) return;
    for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    settle(target);
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) reveal();
  });

  // Each command that repeats a result and each picture gets its button when its instance is opened.
  const offer = (box) => {
    for (const code of box.querySelectorAll(".repeat > code:last-child")) {
      const copy = made("button", { type: "button", textContent: "Copy" });
      copy.addEventListener("click", () => {
        getSelection().selectAllChildren(code);
        const done = (word) => () => { copy.textContent = word; };
        navigator.clipboard ? navigator.clipboard.writeText(code.textContent).then(done("Copied"), done("Selected")) : done("Selected")();
      });
      code.after(copy);
    }
    for (const figure of box.querySelectorAll("figure:not(:has(button))")) {
      const button = made("button", { type: "button", textContent: "Enlarge" });
      button.addEventListener("click", () => enlarge(figure.querySelector("svg")));
      figure.querySelector("figcaption").append(" ", button);
    }
  };
  document.addEventListener("toggle", (event) => { if (event.target.open) offer(event.target); }, true);
  // A mark under the pointer tells its row of the table; coordinates are those of the picture, enlarged or not.
  const NEAR = 18;
  const tip = made("div", { className: "tip", hidden: true });
  tip.setAttribute("role", "tooltip");
  const at = (svg, event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const marked = (svg, point) => {
    let best = NEAR, found = null, row = 0;
    for (const spot of svg.dataset.spots.split(" ")) {
      const [x, y, own = row] = spot.split(",").map(Number);
      row = own + 1;
      const gap = Math.hypot(x - point.x, y - point.y);
      if (gap < best) { best = gap; found = own; }
    }
    return found;
  };
  const tell = (event) => {
    const svg = event.target.closest && event.target.closest("svg[data-spots]");
    const row = svg && marked(svg, at(svg, event));
    const points = svg && (homes.get(svg) || svg).closest(".instance").querySelector(".points");
    const cells = points && row !== null && points.tBodies[0].rows[row];
    tip.hidden = !cells;
    if (!cells) return;
    const names = points.tHead.rows[0].cells;
    tip.replaceChildren(...[...cells.cells].filter((cell) => cell.textContent !== "-").map((cell) => made("div", { textContent: names[cell.cellIndex].textContent + " = " + cell.textContent })));
    (svg.closest("dialog") || document.body).append(tip);
    tip.style.left = Math.max(Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 6), 0) + "px";
    tip.style.top = Math.max(event.clientY + 14 + tip.offsetHeight > innerHeight ? event.clientY - 10 - tip.offsetHeight : event.clientY + 14, 0) + "px";
  };
  document.addEventListener("pointermove", tell);
  document.addEventListener("pointerdown", tell);
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true, capture: true });

  // A picture enlarged is the same one, moved into a dialog: the wheel and + and - zoom, dragging and the arrows move, 0 shows all.
  const homes = new Map();
  const stage = made("div", { className: "stage" });
  const shut = made("button", { type: "button", textContent: "Close" });
  const box = made("dialog", { className: "large" });
  box.setAttribute("aria-label", "Enlarged picture");
  box.append(shut, stage, made("p", { textContent: "Wheel, + and - zoom; dragging and the arrows move; 0 shows all; Escape closes." }));
  document.body.append(box);
  let shown = null, whole = null, written = "";
  const view = () => { const { x, y, width, height } = shown.viewBox.baseVal; return [x, y, width, height]; };
  const look = (x, y, width, height) => shown.setAttribute("viewBox", [x, y, width, height].join(" "));
  const zoom = (factor, point) => {
    const [x, y, width, height] = view();
    const times = Math.min(Math.max(width * factor, whole[2] / 50), whole[2]) / width;
    const kept = (place, from, size, low, span) => Math.min(Math.max(place - (place - from) * times, low), low + span - size * times);
    look(kept(point.x, x, width, whole[0], whole[2]), kept(point.y, y, height, whole[1], whole[3]), width * times, height * times);
  };
  const move = (across, down) => {
    const [x, y, width, height] = view();
    look(Math.min(Math.max(x + across, whole[0]), whole[0] + whole[2] - width), Math.min(Math.max(y + down, whole[1]), whole[1] + whole[3] - height), width, height);
  };
  const enlarge = (svg) => {
    shown = svg;
    whole = view();
    written = svg.getAttribute("viewBox");
    const home = made("span", {});
    homes.set(svg, home);
    svg.replaceWith(home);
    stage.replaceChildren(svg);
    box.showModal();
  };
  shut.addEventListener("click", () => box.close());
  box.addEventListener("close", () => {
    shown.setAttribute("viewBox", written);
    document.body.append(tip);
    tip.hidden = true;
    homes.get(shown).replaceWith(shown);
    homes.delete(shown);
    shown = null;
  });
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, at(shown, event));
  }, { passive: false });
  stage.addEventListener("pointermove", (event) => {
    if (!event.buttons) return;
    const scale = shown.getScreenCTM().a;
    move(-event.movementX / scale, -event.movementY / scale);
  });
  box.addEventListener("keydown", (event) => {
    const [x, y, width, height] = view();
    const middle = { x: x + width / 2, y: y + height / 2 };
    const deeds = {
      "+": () => zoom(0.8, middle), "-": () => zoom(1.25, middle), 0: () => look(...whole),
      ArrowLeft: () => move(-width / 10, 0), ArrowRight: () => move(width / 10, 0), ArrowUp: () => move(0, -height / 10), ArrowDown: () => move(0, height / 10),
    };
    if (!Object.hasOwn(deeds, event.key)) return;
    event.preventDefault();
    deeds[event.key]();
  });

  for (const box of document.querySelectorAll("article > details[open]")) offer(box);
  addEventListener("beforeprint", () => {
    if (!CSS.supports("selector(::details-content)")) for (const box of document.querySelectorAll("details")) box.open = true;
  });

  const table = byId("table");
  if (table) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const controls = byId("controls");
    const fields = { text: byId("filter-text"), verdict: byId("filter-verdict"), status: byId("filter-status"), folder: byId("filter-folder") };
    const sections = new Map([...document.querySelectorAll("article[data-claim]")].map((part) => [part.dataset.claim, part]));

    const filter = () => {
      const words = fields.text.value.toLowerCase().split(/\s+/).filter(Boolean);
      const chosen = ["verdict", "status", "folder"].filter((name) => fields[name].value);
      const folders = new Set();
      let shown = 0;
      for (const row of rows) {
        const fits = words.every((word) => row.dataset.text.includes(word)) && chosen.every((name) => row.dataset[name] === fields[name].value);
        row.hidden = !fits;
        sections.get(row.dataset.claim).hidden = !fits;
        if (fits) { shown += 1; folders.add(row.dataset.folder); }
      }
      for (const part of document.querySelectorAll("section[data-folder]")) part.hidden = !folders.has(part.dataset.folder);
      byId("none").hidden = shown > 0;
      byId("shown").textContent = shown + " of " + rows.length + (rows.length === 1 ? " claim" : " claims") + " shown";
    };
    controls.addEventListener("input", filter);
    controls.querySelector("button").addEventListener("click", () => {
      for (const field of Object.values(fields)) field.value = "";
      filter();
    });
    controls.addEventListener("submit", (event) => event.preventDefault());
    controls.hidden = false;
    filter();

    // Sorting: numbers by their value, texts by their letters, what is missing last in both directions.
    const collator = new Intl.Collator("en", { numeric: true });
    const heads = [...table.tHead.rows[0].cells];
    const sort = (column, numeric, down) => {
      const key = (row) => {
        const cell = row.cells[column];
        const text = "key" in cell.dataset ? cell.dataset.key : cell.firstChild.textContent;
        return numeric ? (text === "" ? null : Number(text)) : (text === "-" ? null : text);
      };
      const order = rows.map((row, place) => ({ row, place, key: key(row) }));
      order.sort((a, b) => {
        if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
        const gap = numeric ? a.key - b.key : collator.compare(a.key, b.key);
        return (down ? -gap : gap) || a.place - b.place;
      });
      body.append(...order.map((entry) => entry.row));
    };
    heads.forEach((head, column) => {
      const button = made("button", { type: "button", textContent: head.textContent });
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(column, head.dataset.sort === "number", down);
      });
    });
  }
  reveal();
})();
