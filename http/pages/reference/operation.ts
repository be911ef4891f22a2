import { type Html, html, type Part } from "../html.ts"
import { curlOf } from "./curl.ts"
import { type Content, type Document, type Operation, type Parameter } from "./Document.ts"
import { inline } from "./markdown.ts"
import { shapeOf } from "./shape.ts"

const code = (text: string, label: string): Html =>
  html`<pre tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>`

const shown = (example: unknown) => typeof example === "string" ? example : JSON.stringify(example, null, 1)

const parameterList = (parameters: ReadonlyArray<Parameter>, shape: (schema: Content["schema"]) => string): Part =>
  parameters.length > 0 && html`<h4>Parameters</h4>
<dl>${
    parameters.map(({ description, in: where, name, required, schema }) =>
      html`<div><dt><code>${name}</code> in the ${where}${required === true && ", required"}</dt>
<dd><code>${shape(schema)}</code>${description !== undefined && [" ", inline(description)]}</dd></div>`
    )
  }</dl>`

/** Where the page's script sends the operation from; it needs the script, so it is hidden until that runs. */
const attempt = (id: string, method: string, path: string, { parameters = [], requestBody }: Operation): Part => {
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  return html`<form hidden data-method="${method.toUpperCase()}" data-path="${path}" data-type="${type ?? ""}">
<h4>Try it</h4>
${
    parameters.map(({ in: where, name }) =>
      html`<label for="${id}.${name}">${name}</label><input id="${id}.${name}" name="${name}" data-in="${where}">`
    )
  }${
    type === "application/json" &&
    html`<label for="${id}-body">Body</label>
<textarea id="${id}-body" rows="6" spellcheck="false">${shown(content?.example)}</textarea>`
  }${type === "multipart/form-data" && html`<label for="${id}-file">File</label><input id="${id}-file" type="file">`}
<button>Send</button>
<pre tabindex="0" role="region" aria-label="Answer" aria-live="polite" hidden></pre></form>`
}

/** One operation: what it takes, what it answers, a command, and a form that sends it. */
export const operationPart = (document: Document, baseUrl: string) => {
  const shape = shapeOf(document)
  const bodies = (contents: Readonly<Record<string, Content>> | undefined, what: string): Part =>
    Object.entries(contents ?? {}).map(([type, { example, schema }]) =>
      html`<p class="soft">${type}</p>${!type.startsWith("text/") && code(shape(schema), `Shape of ${what}`)}${
        example !== undefined && html`<h5>Example</h5>${code(shown(example), `Example of ${what}`)}`
      }`
    )

  const answers = (responses: Operation["responses"], success: boolean) =>
    Object.entries(responses).filter(([status]) => Number(status) < 400 === success)

  return (method: string, path: string, operation: Operation): Part => {
    const { description, operationId, parameters = [], requestBody, responses, security = [], summary } = operation
    return html`<details id="${operationId}">
<summary><h3><b class="verb">${method.toUpperCase()}</b> <code>${path}</code> <span>${
      inline(summary)
    }</span></h3></summary>
${description !== undefined && html`<p>${inline(description)}</p>`}
<p class="soft">${operation.deprecated === true && "Deprecated. "}${
      security.length === 0 ? "No credential needed." : "Needs a credential."
    }</p>
${parameterList(parameters, shape)}
${requestBody !== undefined && html`<h4>Body${requestBody.required === false && ", may be left out"}</h4>`}
${bodies(requestBody?.content, "the body")}
${
      answers(responses, true).map(([status, { content, description: meaning }]) =>
        html`<h4>Answer ${status}</h4>${meaning !== undefined && meaning !== "Success" && html`<p>${meaning}</p>`}${
          bodies(content, `answer ${status}`)
        }`
      )
    }
<h4>Failures</h4>
<p>${answers(responses, false).map(([status]) => status).join(", ")}</p>
<h4>Command</h4>
${code(curlOf(baseUrl, method, path, operation), "Command")}
${attempt(operationId, method, path, operation)}
</details>`
  }
}
