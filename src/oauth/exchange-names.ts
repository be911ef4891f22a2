/** The grant type of token exchange (RFC 8693 §2.1). */
export const tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"

/** The only type of token that is taken and given (RFC 8693 §3): sessions and keys are access tokens to us. */
export const accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
