import { closedPolicy, sourceHash } from "#http/answers/content-security.ts"
import { document as pageOf } from "../document.ts"
import { Html, html } from "../html.ts"
import { styleHash } from "../style.ts"
import { type Document } from "./Document.ts"
import { markdown } from "./markdown.ts"
import { operationPart } from "./operation.ts"
import { script } from "./script.ts"

const style = ".wide>*{max-width:60rem}[hidden]{display:none!important}" +
  "pre{overflow-x:auto;white-space:pre-wrap;background:var(--ground);border:1px solid var(--line);border-radius:.5rem;" +
  "padding:.75rem;font-size:.875rem;max-height:28rem;margin:0 0 1rem}" +
  "textarea{display:block;width:100%;padding:.5rem .75rem;font:.875rem ui-monospace,monospace;color:inherit;" +
  "background:var(--card);border:1px solid var(--edge);border-radius:.5rem}" +
  "details{margin:0;border-bottom:1px solid var(--line)}h3{display:inline;color:inherit}h3 span{font-weight:400}" +
  "h4{margin:1rem 0 .25rem}h5{margin:.5rem 0 .25rem}.verb{display:inline-block;min-width:3.5rem}" +
  "form button,form label,.scripted label{margin-top:.75rem}form pre{margin-top:1rem}"

/** The script calls our own API; nothing else is loaded. */
export const referencePolicy = [
  closedPolicy,
  `script-src ${sourceHash(script)}`,
  `style-src ${styleHash} ${sourceHash(style)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'"
].join("; ")

const idOf = (tag: string) => `tag/${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`

/** The API for people: made of the OpenAPI document, whole without its script. */
export const referencePage = (document: Document, baseUrl: string) => {
  const { info: { description, version }, paths, tags } = document
  const part = operationPart(document, baseUrl)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation }))
  )
  const sections = tags.map(({ name }) =>
    html`<section aria-labelledby="${idOf(name)}"><h2 id="${idOf(name)}">${name}</h2>
${
      operations.filter(({ operation }) => operation.tags.includes(name))
        .map(({ method, operation, path }) => part(method, path, operation))
    }
</section>`
  )
  return pageOf({
    title: "The HTTP API",
    wide: true,
    isPublic: true,
    head: html`<style>${new Html(style)}</style>`,
    main: html`<h1>The HTTP API</h1>
<p class="soft">Version ${version}; the same for programs: <a href="/openapi.json">OpenAPI 3.1</a></p>
${markdown(description)}
<h2>Operations</h2>
<nav aria-label="Groups"><ul class="tabs links">${
      tags.map(({ name }) => html`<li><a href="#${idOf(name)}">${name}</a></li>`)
    }</ul></nav>
<div class="scripted" role="search" hidden>
<label for="search">Search operations</label><input id="search" type="search" autocomplete="off">
<p id="found" class="hint" role="status"></p>
<label for="key">Key or session token for the requests that you send from here</label>
<input id="key" type="password" autocomplete="off" spellcheck="false">
</div>
${sections}
<script>${new Html(script)}</script>`
  })
}
