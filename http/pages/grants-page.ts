import { type Grant, renewableClientIds } from "#src/oauth/Grant.ts"
import { isCompositeResource } from "#src/oauth/scopes/platform-resource.ts"
import { document } from "./document.ts"
import { html, type Part } from "./html.ts"
import { scopeWords } from "./scope-words.ts"
import { shownAddress, shownHost, shownName } from "./shown.ts"

export interface GrantsProps {
  readonly nav: Part
  readonly action: string
  readonly signOut: string
  readonly ticket: string
  readonly user: string
  readonly grants: ReadonlyArray<Grant>
  /** Path of the next page. */
  readonly more?: string | undefined
  /** Set right after one was revoked. */
  readonly revoked: boolean
}

const day = new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" })

const originOf = (clientId: string) =>
  renewableClientIds.includes(clientId)
    ? "Berth's own, for what you use through it"
    : clientId.startsWith("https:")
    ? `Of ${shownHost(clientId)}`
    : "It registered itself"

const entry = (grant: Grant, { action, ticket }: GrantsProps) => {
  const name = shownName(grant.clientName ?? "", "An unnamed application")
  const target = grant.serverId !== null
    ? shownName(grant.serverName ?? "", "a server without a name")
    : isCompositeResource(grant.resource)
    ? "a composite"
    : "Berth"
  const date = grant.createdAt.toISOString()
  return html`<li>
<h2 id="${grant.id}"><bdi>${name}</bdi></h2>
<p class="soft">${originOf(grant.clientId)}; allowed on
<time datetime="${date}">${day.format(grant.createdAt)}</time></p>
<p>It may use <strong><bdi>${target}</bdi></strong> (${shownAddress(grant.resource)}):</p>
<ul>
${
    scopeWords(grant.scopes).map(({ scope, words }) =>
      html`<li>${words ?? html`<code>${shownName(scope, "?")}</code>`}</li>
`
    )
  }</ul>
<form method="post" action="${action}">
<input type="hidden" name="ticket" value="${ticket}">
<input type="hidden" name="grant" value="${grant.id}">
<button aria-describedby="${grant.id}">Revoke</button>
</form>
</li>
`
}

/** The user's grants, with a button to revoke each. */
export const grantsPage = (props: GrantsProps) => {
  const { grants, more, nav, revoked, signOut, ticket, user } = props
  return document({
    title: revoked ? "Revoked: connected applications" : "Connected applications",
    wide: true,
    main: html`${nav}
<h1>Connected applications</h1>
${
      revoked &&
      html`<p class="note good" role="status" tabindex="-1" autofocus>It is revoked. The application's access has
ended, and so have the API keys that it made.</p>`
    }
${
      grants.length === 0
        ? html`<p>No application may act for you at present.</p>`
        : html`<p>These applications may act for you. Revoking one ends its access at once, and the API keys that it made.</p>
<ul class="grants">
${grants.map((grant) => entry(grant, props))}</ul>`
    }
${more !== undefined && html`<p><a href="${more}">Earlier ones</a></p>`}`,
    footer: html`<form class="inline" method="post" action="${signOut}">
<input type="hidden" name="ticket" value="${ticket}">
Signed in as <strong><bdi>${user}</bdi></strong>. <button>Sign out</button>
</form>`
  })
}
