import { Parser } from "htmlparser2"

/** As the editors of shops write it: text in blocks. Other markup, such as `<b>x</b>`, may be meant as it is. */
const startsBlock = /^\s*<(?:p|div|ul|ol|h[1-6]|table|br|section|article)(?:\s[^<>]*)?\/?>/i
export const isHtml = (text: string) => startsBlock.test(text.slice(0, 1000))

const blocks = new Set([
  "p",
  "div",
  "ul",
  "ol",
  "li",
  "table",
  "tr",
  "section",
  "article",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5"
])
const unseen = new Set(["script", "style", "template", "noscript", "title"])

/** The text of HTML as a browser shows it, about: a line for each block, no scripts, no tags. */
export const textOfHtml = (html: string) => {
  const lines: Array<string> = []
  let line: Array<string> = []
  let hidden = 0
  const breakLine = () => {
    const text = line.join("").replace(/\s+/g, " ").trim()
    if (text !== "") lines.push(text)
    line = []
  }
  const parser = new Parser({
    onopentag: (name) => {
      if (unseen.has(name)) hidden++
      if (name === "br" || blocks.has(name)) breakLine()
      if (name === "li") line.push("- ")
    },
    ontext: (text) => void (hidden === 0 && line.push(text)),
    onclosetag: (name) => {
      if (unseen.has(name)) hidden--
      if (blocks.has(name)) breakLine()
      else if (name === "td" || name === "th") line.push(" ")
    }
  }, { decodeEntities: true })
  parser.end(html)
  breakLine()
  return lines.join("\n")
}
