/** Who may use a server (design: server auth), as its row tells. */
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
}

/** `public`: any user. `owner`: the owner. `list`: the owner and those whose e-mail address is listed. */
export const mayUseServer = (
  { access, allowedEmails, ownerId }: ServerAccess,
  { accountId, email }: ServerUser
): boolean => access === "public" || accountId === ownerId || (access === "list" && allowedEmails.includes(email))
