// Checks that run in a page; each returns a list of faults, empty where there is none.
globalThis.checks = (() => {
  const number = (text) => (text.endsWith("%") ? parseFloat(text) / 100 : parseFloat(text));

  // A computed colour is rgb(...) or rgba(...), or color(srgb ...) where it was mixed: red, green, blue and alpha in 0..1.
  const parse = (text) => {
    const parts = text.match(/[-+.\de%]+/g)?.filter((part) => /\d/.test(part)) ?? [];
    if (text.startsWith("rgb")) return [...parts.slice(0, 3).map((part) => number(part) / 255), parts[3] ? number(parts[3]) : 1];
    if (text.startsWith("color(srgb")) return [...parts.slice(0, 3).map(number), parts[3] ? number(parts[3]) : 1];
    throw new Error("a colour that the check cannot read: " + text);
  };
  const over = (top, below) => top.slice(0, 3).map((value, i) => value * top[3] + below[i] * (1 - top[3]));

  // Relative luminance and contrast as WCAG 2 defines them.
  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (color) => 0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2]);
  const contrast = (one, two) => {
    const [low, high] = [luminance(one), luminance(two)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };

  const canvas = () => (matchMedia("(prefers-color-scheme: dark)").matches ? [0.07, 0.07, 0.07] : [1, 1, 1]);

  // The background that is seen behind an element: its own and its ancestors' laid over each other.
  const behind = (element) => {
    const layers = [];
    for (let node = element; node; node = node.parentElement) layers.push(parse(getComputedStyle(node).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), canvas());
  };

  const opacity = (element) => {
    let product = 1;
    for (let node = element; node; node = node.parentElement) product *= parseFloat(getComputedStyle(node).opacity);
    return product;
  };

  const ink = (element, pseudo) => {
    const style = getComputedStyle(element, pseudo);
    const drawn = element.ownerSVGElement && !pseudo ? style.fill : style.color;
    const color = parse(drawn);
    color[3] *= opacity(element) * (element.ownerSVGElement ? parseFloat(style.fillOpacity) : 1);
    return color;
  };

  const texts = () => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.data.trim() || ["STYLE", "SCRIPT", "OPTION", "title", "desc"].includes(element.tagName)) continue;
      if (element.checkVisibility({ visibilityProperty: true })) found.push([element, null, node.data.trim()]);
    }
    for (const element of document.querySelectorAll("body *")) {
      for (const pseudo of ["::before", "::after"]) {
        const content = getComputedStyle(element, pseudo).content;
        if (!/^"\s*"$|^(none|normal)$/.test(content) && element.checkVisibility()) found.push([element, pseudo, content]);
      }
    }
    return found;
  };

  return {
    contrast(least) {
      const seen = new Map();
      for (const [element, pseudo, text] of texts()) {
        const ground = behind(element);
        const ratio = contrast(over(ink(element, pseudo), ground), ground);
        if (ratio < least) seen.set(`${element.tagName}.${element.getAttribute("class")} ${pseudo ?? ""} ${ratio.toFixed(2)}`, text.slice(0, 40));
      }
      return [...seen].map(([where, text]) => `${where}: ${text}`);
    },
    counted() {
      return texts().length;
    },
    ids() {
      const counts = {};
      for (const element of document.querySelectorAll("[id]")) counts[element.id] = (counts[element.id] ?? 0) + 1;
      return Object.keys(counts).filter((id) => counts[id] > 1);
    },
    pictures() {
      const named = (picture) => {
        const label = picture.getAttribute("aria-labelledby");
        const said = label ? label.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ") : "";
        return (picture.getAttribute("alt") ?? picture.getAttribute("aria-label") ?? said) || picture.querySelector(":scope > title")?.textContent;
      };
      return [...document.querySelectorAll("img, body svg")]
        .filter((picture) => !picture.parentElement.closest("svg") && picture.getAttribute("aria-hidden") !== "true")
        .filter((picture) => !named(picture)?.trim() || (picture.tagName === "svg" && picture.getAttribute("role") !== "img"))
        .map((picture) => picture.outerHTML.slice(0, 80));
    },
    labels() {
      return [...document.querySelectorAll("input, select, button, table, section, [role=group]")]
        .filter((element) => {
          const label = element.getAttribute("aria-labelledby");
          const said = label ? document.getElementById(label)?.textContent : element.getAttribute("aria-label");
          return !(said || element.labels?.[0]?.textContent || element.caption?.textContent || (element.tagName === "BUTTON" && element.textContent));
        })
        .map((element) => element.outerHTML.slice(0, 80));
    },
    overflow() {
      return document.documentElement.scrollWidth > innerWidth ? [`${document.documentElement.scrollWidth} > ${innerWidth}`] : [];
    },
    cut() { // text and formulas higher than their box, which has a scrollbar of its own or hides what is below
      const all = [...document.querySelectorAll("body *")];
      for (const each of all) each.style.contentVisibility = "visible"; // what is laid out only when it comes into view, too
      return all
        .filter((box) => box.clientHeight && getComputedStyle(box).overflowY !== "visible" && box.scrollHeight > box.clientHeight)
        .map((box) => `${box.scrollHeight} > ${box.clientHeight}: ${box.textContent.slice(0, 80)}`);
    },
    unseen() {
      return [...document.querySelectorAll("details > :not(summary)")].filter((part) => part.getClientRects().length === 0 || !part.checkVisibility({ contentVisibilityAuto: false }))
        .map((part) => part.outerHTML.slice(0, 80));
    },
  };
})();
