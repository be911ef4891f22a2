import { type PageError, type RedirectError } from "#src/oauth/AuthorizationRequest.ts"
import { redirectKind } from "#src/oauth/checks/redirect-uri.ts"
import { html } from "./html.ts"
import { messagePage } from "./message-page.ts"
import { page } from "./respond.ts"
import { shownHost, shownName } from "./shown.ts"

const title = "This request can't go on"

/** For an application whose registration was deleted as unused, while it still has its id. */
const unknownClient = [
  "Berth does not know the application that sent you here, or no longer. Nothing was shared with it.",
  "Disconnect the application and connect it again, in its own settings: it then registers anew."
]

/** An error that is shown to the user, since the client is unknown or its redirect is not valid. */
export const errorPage = ({ code, message }: PageError) => {
  const fault = [
    message,
    "The fault is with the application that sent you here, and nothing was shared with it. Go back to it and try " +
    "again, or tell those who make it."
  ]
  return page(messagePage({ title, message: code === "client_unknown" ? unknownClient : fault, code }), 400)
}

/** For a client without this visitor's consent: the visitor decides whether to follow the redirect. */
export const returnPage = ({ client, description, error, redirectTo, redirectUri }: RedirectError) => {
  const host = shownHost(redirectUri) ?? "the application"
  const targets = {
    web: host,
    loopback: `${host}, a program on this device`,
    "private-use": `${host}, an app on this device`
  }
  const message = [
    html`<strong><bdi>${shownName(client.clientName, "An unnamed application")}</bdi></strong> sent you here with a
request that is not valid: ${description}. Nothing was shared with it.`,
    "Berth can't tell who made this application. Return to it only if you have just come from there."
  ]
  const link = { href: redirectTo, text: `Return to ${targets[redirectKind(redirectUri)]}` }
  return page(messagePage({ title, message, code: error, link }), 400)
}

export const stalePage = (again: string) =>
  page(
    messagePage({
      title: "Please look again",
      message: ["The page was open for too long, or you signed in anew meanwhile. Nothing was decided."],
      link: { href: again, text: "Show the request again" }
    }),
    403
  )
