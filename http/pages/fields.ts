import { html } from "./html.ts"

/** An error in the input; without a field, in the form as a whole. */
export interface Fault {
  readonly field?: string | undefined
  readonly message: string
}

export interface Field {
  readonly name: string
  readonly label: string
  readonly type: "text" | "email" | "password"
  /** HTML standard, 4.10.18.7: so that browsers and password managers fill it (WCAG 2.2, 1.3.5). */
  readonly autocomplete: string
  readonly value?: string | undefined
  readonly hint?: string
  readonly required?: boolean
  readonly minLength?: number
  readonly maxLength: number
  /** The first field of the page: it gets the focus, unless the page shows a fault. */
  readonly first?: boolean
}

const faultOf = (faults: ReadonlyArray<Fault>, name: string) => faults.find(({ field }) => field === name)

/** A labelled input; screen readers read its hint and its fault with it. */
export const field = (it: Field, faults: ReadonlyArray<Fault>) => {
  const { autocomplete, first = false, hint, label, maxLength, minLength, name, required = true, type, value } = it
  const fault = faultOf(faults, name)
  const described = [hint !== undefined && `${name}-hint`, fault !== undefined && `${name}-fault`].filter(Boolean)
  return html`<div class="field">
<label for="${name}">${label}${!required && html` <span class="soft">(optional)</span>`}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="${maxLength}"${
    type === "email" && html` inputmode="email" spellcheck="false" autocapitalize="none"`
  }${minLength !== undefined && html` minlength="${minLength}"`}${value !== undefined && html` value="${value}"`}${
    required && html` required`
  }${first && faults.length === 0 && html` autofocus`}${fault !== undefined && html` aria-invalid="true"`}${
    described.length > 0 && html` aria-describedby="${described.join(" ")}"`
  }>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${fault !== undefined && html`<p class="fault" id="${name}-fault">${fault.message}</p>`}
</div>`
}

/**
 * All faults, at the top of the page: it gets the focus when the page loads, so that a screen reader reads it first,
 * and links to the fields.
 */
export const faultSummary = (faults: ReadonlyArray<Fault>) =>
  faults.length > 0 && html`<div class="note bad" role="alert" tabindex="-1" autofocus id="faults">
${
    faults.map(({ field, message }) =>
      html`<p>${field === undefined ? message : html`<a href="#${field}">${message}</a>`}</p>
`
    )
  }</div>`

/** The title of a page with faults says so (WCAG 2.2, 2.4.2). */
export const titled = (title: string, faults: ReadonlyArray<Fault>) => faults.length > 0 ? `Error: ${title}` : title
