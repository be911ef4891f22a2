/** The columns of a server's row that say who may use it. */
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
  /** Whether the address is proven to be this user's: anybody can sign up with another's. */
  readonly emailVerified: boolean
}

/**
 * `public`: any user. `owner`: the owner. `list`: the owner and those whose e-mail address is listed and verified.
 * An unverified address is `unverified` whether listed or not, so that signing up does not reveal the list.
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
