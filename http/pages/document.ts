import { Html, html, type Part } from "./html.ts"
import { style } from "./style.ts"

export interface Page {
  /** The window's title; the page's heading is part of `main`. */
  readonly title: string
  readonly main: Part
  readonly footer?: Part
  /** For a list instead of one question. */
  readonly wide?: boolean
  /** The browser continues to this URL by itself, without a script. */
  readonly continueTo?: string
  /** Further elements of the head. */
  readonly head?: Part
  /** For everybody, and to be found by searchers. */
  readonly isPublic?: boolean
}

const styleElement = new Html(`<style>${style}</style>`)

/** A whole page, without scripts that run and without other resources. */
export const document = ({ continueTo, footer, head, isPublic = false, main, title, wide = false }: Page) =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${
    !isPublic && html`<meta name="robots" content="noindex">
`
  }${continueTo !== undefined && html`<meta http-equiv="refresh" content="0; url=${continueTo}">`}
<title>${title} – Berth</title>
${styleElement}
${head}
</head>
<body${wide && html` class="wide"`}>
<header><span aria-hidden="true"></span>Berth</header>
<main>
${main}
</main>
<footer>
${footer}
</footer>
</body>
</html>
`.text
