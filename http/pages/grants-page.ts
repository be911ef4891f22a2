import { document } from "./document.ts"
import { html } from "./html.ts"
import { scopeWords } from "./scope-words.ts"
import { shownHost, shownName } from "./shown.ts"

export interface ShownGrant {
  readonly id: string
  readonly clientId: string
  readonly clientName: string
  /** The URL that the tokens are for. */
  readonly resource: string
  readonly serverName: string | null
  readonly scopes: ReadonlyArray<string>
  readonly createdAt: Date
}

export interface GrantsProps {
  readonly action: string
  readonly signOut: string
  readonly ticket: string
  readonly user: string
  readonly grants: ReadonlyArray<ShownGrant>
  /** Set right after one was revoked. */
  readonly revoked: boolean
}

const day = new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" })

const entry = (grant: ShownGrant, { action, ticket }: GrantsProps) => {
  const name = shownName(grant.clientName, "An unnamed application")
  const target = shownName(grant.serverName ?? "", shownHost(grant.resource) ?? grant.resource)
  const client = grant.clientId.startsWith("https:") ? shownHost(grant.clientId) : undefined
  const date = grant.createdAt.toISOString()
  return html`<li>
<h2 id="${grant.id}"><bdi>${name}</bdi></h2>
<p class="soft">${client === undefined ? "It registered itself" : `Known by ${client}`}; allowed on
<time datetime="${date}">${day.format(grant.createdAt)}</time></p>
<p>It may use <strong><bdi>${target}</bdi></strong> (${shownHost(grant.resource) ?? grant.resource}):</p>
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

/** What the user allowed, to be taken back. */
export const grantsPage = (props: GrantsProps) => {
  const { grants, revoked, signOut, ticket, user } = props
  return document({
    title: revoked ? "Revoked: connected applications" : "Connected applications",
    wide: true,
    main: html`<h1>Connected applications</h1>
${
      revoked && html`<p class="note good" role="status" tabindex="-1" autofocus>It is revoked: the application can get
no new access. What it holds already ends within 15 minutes.</p>`
    }
<p>These applications may act for you.</p>
${
      grants.length === 0
        ? html`<p>There are none at present.</p>`
        : html`<ul class="grants">
${grants.map((grant) => entry(grant, props))}</ul>`
    }`,
    footer: html`<form class="inline" method="post" action="${signOut}">
<input type="hidden" name="ticket" value="${ticket}">
Signed in as <strong><bdi>${user}</bdi></strong>. <button>Sign out</button>
</form>`
  })
}
