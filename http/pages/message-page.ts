import { document } from "./document.ts"
import { html, type Part } from "./html.ts"
import { shownName } from "./shown.ts"

export interface MessageProps {
  readonly title: string
  /** One for each paragraph. */
  readonly message: ReadonlyArray<Part>
  /** For support; shown in small print. */
  readonly code?: string | undefined
  readonly requestId?: string | undefined
  readonly link?: { readonly href: string; readonly text: string } | undefined
}

/** A page that reports an error, without a form. */
export const messagePage = ({ code, link, message, requestId, title }: MessageProps) =>
  document({
    title,
    main: html`<h1>${title}</h1>
${message.map((text) => html`<p>${text}</p>`)}
${link !== undefined && html`<p><a href="${link.href}">${link.text}</a></p>`}`,
    footer: (code !== undefined || requestId !== undefined) &&
      html`<p>${code !== undefined && html`Error: <code>${code}</code>. `}${
        requestId !== undefined && html`Request: <code>${requestId}</code>`
      }</p>`
  })

/** The browser continues by itself; the link is for browsers that are set not to. */
export const continuePage = ({ clientName, href }: { readonly clientName: string; readonly href: string }) => {
  const name = shownName(clientName, "the application")
  return document({
    title: "Signed in",
    continueTo: href,
    main: html`<h1>You are signed in</h1>
<p role="status">Going on to <strong><bdi>${name}</bdi></strong>.</p>
<p><a class="button act" href="${href}">Continue</a></p>`
  })
}
