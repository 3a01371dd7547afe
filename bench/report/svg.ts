/**
 * Pictures that need nothing to be seen: text is text, and the colours follow those of the reader.
 */
export const WIDTH = 860;
export const MARGIN = 20;
/** Of lines of text. */
export const LINE = 20;

const STYLE = `
    text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
    .title { font-size: 15px; font-weight: 600 }
    .head { font-weight: 600 }
    .muted { fill: #59636e }
    .end { text-anchor: end }
    .middle { text-anchor: middle }
    .page { fill: #ffffff; stroke: #d1d9e0 }
    .grid { stroke: #d1d9e0; stroke-width: 1 }
    .one { stroke: #59636e; stroke-width: 1; stroke-dasharray: 3 3 }
    .own { fill: #0969da }
    .peer { fill: #9aa4ae }
    .line { fill: none; stroke-width: 2 }
    .own-line { stroke: #0969da }
    .peer-line { stroke: #9a6700 }
    .own-dot { fill: #0969da }
    .peer-dot { fill: #9a6700 }
    .own-text { fill: #0969da }
    .peer-text { fill: #9a6700 }
    .dashed { stroke-dasharray: 6 4 }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .muted { fill: #9198a1 }
      .page { fill: #0d1117; stroke: #3d444d }
      .grid { stroke: #3d444d }
      .one { stroke: #9198a1 }
      .own, .own-dot { fill: #4493f8 }
      .own-text { fill: #4493f8 }
      .peer { fill: #656c76 }
      .own-line { stroke: #4493f8 }
      .peer-line { stroke: #d29922 }
      .peer-dot, .peer-text { fill: #d29922 }
    }`;

export type Attributes = Readonly<Record<string, string | number>>;

/** An element; numbers keep one digit after the point. */
export function element(name: string, attributes: Attributes, content = ""): string {
  const text = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${typeof value === "number" ? short(value) : escape(value)}"`)
    .join("");
  return content === "" ? `<${name}${text}/>` : `<${name}${text}>${content}</${name}>`;
}

/** Text, with classes. */
export function text(x: number, y: number, content: string, classes = ""): string {
  return element("text", { x, y, ...(classes && { class: classes }) }, escape(content));
}

/** About as wide as the text is drawn, rather more. */
export function widthOf(content: string): number {
  return content.length * 6.9;
}

/** The whole picture, with a title above. */
export function picture(title: string, { height, parts }: Picture): string {
  const page = { class: "page", x: 0.5, y: 0.5, width: WIDTH - 1, height: height - 1, rx: 6 };
  const lines = [
    element("title", {}, escape(title)),
    element("style", {}, `${STYLE}\n  `),
    element("rect", page),
    text(MARGIN, 30, title, "title"),
    ...parts,
  ];
  const body = `\n  ${lines.join("\n  ")}\n`;
  const size = { width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}` };
  const attributes = { xmlns: "http://www.w3.org/2000/svg", ...size, role: "img" };
  return `${element("svg", attributes, body)}\n`;
}

export interface Picture {
  readonly height: number;
  readonly parts: readonly string[];
}

function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escape(value: string): string {
  return value
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
