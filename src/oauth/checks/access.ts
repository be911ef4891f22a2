/** Who may use a server, as its row tells. */
export interface ServerAccess {
  readonly access: "public" | "owner" | "list"
  readonly allowedEmails: ReadonlyArray<string>
  /** The account that owns the server. */
  readonly ownerId: string
}

export interface ServerUser {
  readonly accountId: string
  /** In lower case, as accounts keep it. */
  readonly email: string
  /** Whether it is known that the address is this user's: anybody can sign up with anybody's. */
  readonly emailVerified: boolean
}

/**
 * `public`: any user. `owner`: the owner. `list`: the owner and those whose e-mail address is listed and verified.
 * Everybody whose address is not verified is told so, listed or not: a list is not to be read by signing up.
 */
export const admission = (
  { access, allowedEmails, ownerId }: ServerAccess,
  { accountId, email, emailVerified }: ServerUser
): "admitted" | "unverified" | "refused" => {
  if (access === "public" || accountId === ownerId) return "admitted"
  if (access === "owner") return "refused"
  if (!emailVerified) return "unverified"
  return allowedEmails.includes(email) ? "admitted" : "refused"
}
