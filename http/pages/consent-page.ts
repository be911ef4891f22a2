import { redirectKind } from "#src/oauth/checks/redirect-uri.ts"
import { document } from "./document.ts"
import { html } from "./html.ts"
import { scopeWords } from "./scope-words.ts"
import { shownAddress, shownHost, shownName } from "./shown.ts"

export interface ConsentProps {
  readonly action: string
  readonly ticket: string
  /** Path of the sign-in page, for another account. */
  readonly switchAccount: string
  /** Path of the page where grants are revoked. */
  readonly grants: string
  readonly client: { readonly clientId: string; readonly kind: "metadata" | "dynamic"; readonly clientName: string }
  /** Where the authorization response goes. */
  readonly redirectUri: string
  readonly target: {
    readonly name: string
    readonly url: string
    readonly kind: "server" | "platform" | "composite"
    /** Of a composite: how many of its best businesses there are, and how many of these nobody has checked. */
    readonly businesses?: { readonly count: number; readonly unverified: number } | undefined
  }
  readonly scopes: ReadonlyArray<string>
  /** E-mail address of the user. */
  readonly user: string
  /** Whether the server admits this user; if not, the page can only deny. */
  readonly admission: "admitted" | "unverified" | "refused"
}

const row = (term: string, value: ReturnType<typeof html>) =>
  html`<div><dt>${term}</dt><dd>${value}</dd></div>
`

const identity = ({ client }: ConsentProps) =>
  client.kind === "metadata"
    ? html`<strong>${shownHost(client.clientId) ?? client.clientId}</strong> (it is described there)`
    : html`Not verified: it registered itself, and anybody can take this name`

const returns = ({ redirectUri }: ConsentProps) => {
  switch (redirectKind(redirectUri)) {
    case "web":
      return html`<strong>${shownHost(redirectUri)}</strong>`
    case "loopback":
      return html`<strong>${shownHost(redirectUri)}</strong> (a program on this device)`
    case "private-use":
      return html`<strong>${shownHost(redirectUri)}</strong> (an app on this device)`
  }
}

const businesses = ({ target }: ConsentProps) => {
  const { count = 0, unverified = 0 } = target.businesses ?? {}
  return count > 0 && row(
    "Its businesses now",
    html`${String(count)}${
      unverified > 0 &&
      html`, <strong>${String(unverified)} of them unverified</strong> (nobody has checked who they are)`
    }: each gets a token for its own server`
  )
}

/** Any program with the port or the scheme gets the code (RFC 8252 §8.1, §8.3); only the user knows which that is. */
const warning = ({ redirectUri }: ConsentProps, name: string) => {
  const kind = redirectKind(redirectUri)
  return kind !== "web" && html`<section class="note warn" aria-labelledby="warning">
<h2 id="warning">Warning: only you know which program this is</h2>
<p>${
    kind === "loopback"
      ? "The answer goes to a program on this device, and any program can call itself "
      : "The answer goes to an app on this device, and any app can claim this address and call itself "
  }<bdi>${name}</bdi>: allow it only if you have just started this yourself.</p>
</section>`
}

const scopeList = ({ scopes }: ConsentProps) =>
  scopes.length === 0
    ? html`<p>It asks for nothing but to know that you allowed it.</p>`
    : html`<ul>
${
      scopeWords(scopes).map(({ grave, scope, words }) =>
        html`<li>${words ?? html`<code>${shownName(scope, "?")}</code>`}${
          grave && html` <strong>(this is full access to your account)</strong>`
        }</li>
`
      )
    }</ul>`

const buttons = ({ action, admission, ticket }: ConsentProps) =>
  html`<form method="post" action="${action}">
<input type="hidden" name="ticket" value="${ticket}">
<div class="choices">
${
    admission === "admitted"
      ? html`<button class="act" name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button>`
      : html`<button class="act" name="decision" value="deny">Go back</button>`
  }
</div>
</form>`

const account = ({ switchAccount, user }: ConsentProps) =>
  html`<p>Signed in as <strong><bdi>${user}</bdi></strong>. <a href="${switchAccount}">Use another account</a></p>`

/** Says nothing of a private composite, not even its name. */
const whyNot = ({ admission, target, user }: ConsentProps, name: string, server: string) => {
  if (target.kind === "composite") {
    return html`<p>It is private to another account, so <strong><bdi>${name}</bdi></strong> can't use it for you. Use the
account that made it.</p>`
  }
  return admission === "unverified"
    ? html`<p>The owner of <strong><bdi>${server}</bdi></strong> lets in certain e-mail addresses only, and nobody has
verified yet that <strong><bdi>${user}</bdi></strong> is yours. Ask the operator of this platform to verify it, then
try again, or use another account.</p>`
    : html`<p>The owner of <strong><bdi>${server}</bdi></strong> lets in other accounts only, so
<strong><bdi>${name}</bdi></strong> can't use it for you. Ask the owner to add your e-mail address, or use another
account.</p>`
}

const notAdmittedPage = (props: ConsentProps, name: string, server: string) =>
  document({
    title: "Not open to this account",
    main: html`<h1>This ${props.target.kind === "composite" ? "composite" : "server"} is not open to you</h1>
${whyNot(props, name, server)}
${account(props)}
${buttons(props)}`
  })

/** Asks the user, with all facts for the decision. */
export const consentPage = (props: ConsentProps) => {
  const { admission, target } = props
  const name = shownName(props.client.clientName, "An unnamed application")
  const server = shownName(target.name, "an unnamed server")
  if (admission !== "admitted") return notAdmittedPage(props, name, server)
  return document({
    title: `Allow ${name}?`,
    main: html`<h1>Allow <bdi>${name}</bdi> to use <bdi>${server}</bdi>?</h1>
${account(props)}
<dl>
${row("Application", html`<strong><bdi>${name}</bdi></strong>`)}${row("Identity", identity(props))}${
      row(
        target.kind === "server" ? "Server it wants to use" : "What it wants to use",
        html`<strong><bdi>${server}</bdi></strong> at ${shownAddress(target.url)}`
      )
    }${businesses(props)}${row("You return to", returns(props))}
</dl>
<h2>It wants to</h2>
${scopeList(props)}
${warning(props, name)}
${buttons(props)}
<p class="soft">You can take this back at any time under your <a href="${props.grants}">connected
applications</a>.</p>`
  })
}
