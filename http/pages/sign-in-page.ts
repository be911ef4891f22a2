import { document } from "./document.ts"
import { type Fault, faultSummary, field, titled } from "./fields.ts"
import { html } from "./html.ts"
import { shownName } from "./shown.ts"

export interface SignInProps {
  /** Path that the form is posted to. */
  readonly action: string
  readonly ticket: string
  /** Path of the sign-up page from the sign-in page, and the reverse. */
  readonly other: string
  /** Name of the client that sent the visitor here, if any. */
  readonly clientName?: string | undefined
  /** The account that is signed in now, when the visitor wants to use another. */
  readonly signedInAs?: string | undefined
  readonly email?: string | undefined
  readonly name?: string | undefined
  readonly faults: ReadonlyArray<Fault>
}

const reasonFor = (verb: string, clientName: string | undefined) =>
  clientName === undefined || clientName === ""
    ? undefined
    : html`<p>${verb} to continue to <strong><bdi>${shownName(clientName, "an application")}</bdi></strong>.
The application does not see your password.</p>`

const ticketField = (ticket: string) => html`<input type="hidden" name="ticket" value="${ticket}">`

const emailField = ({ email, faults }: SignInProps, first = false) =>
  field({
    first,
    name: "email",
    label: "E-mail address",
    type: "email",
    autocomplete: "username",
    maxLength: 254,
    value: email
  }, faults)

export const signInPage = (props: SignInProps) => {
  const { action, clientName, faults, other, signedInAs, ticket } = props
  return document({
    title: titled("Sign in", faults),
    main: html`<h1>Sign in</h1>
${faultSummary(faults)}
${reasonFor("Sign in", clientName)}
${
      signedInAs !== undefined && html`<p>You are signed in as <strong><bdi>${signedInAs}</bdi></strong>. Signing in
with another account ends that session.</p>`
    }
<form method="post" action="${action}">
${ticketField(ticket)}
${emailField(props, true)}
${
      field({
        name: "password",
        label: "Password",
        type: "password",
        autocomplete: "current-password",
        maxLength: 1024
      }, faults)
    }
<button class="act">Sign in</button>
</form>
<p class="after">No account yet? <a href="${other}">Create one</a></p>`
  })
}

export const signUpPage = (props: SignInProps) => {
  const { action, clientName, faults, name, other, ticket } = props
  return document({
    title: titled("Create an account", faults),
    main: html`<h1>Create an account</h1>
${faultSummary(faults)}
${reasonFor("Create an account", clientName)}
<form method="post" action="${action}">
${ticketField(ticket)}
${
      field({
        first: true,
        name: "name",
        label: "Name",
        type: "text",
        autocomplete: "name",
        required: false,
        maxLength: 255,
        value: name
      }, faults)
    }
${emailField(props)}
${
      field({
        name: "password",
        label: "Password",
        type: "password",
        autocomplete: "new-password",
        hint: "At least 10 characters",
        minLength: 10,
        maxLength: 1024
      }, faults)
    }
<button class="act">Create account</button>
</form>
<p class="after">Have an account? <a href="${other}">Sign in</a></p>`
  })
}
