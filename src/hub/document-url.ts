/** Where a capability document's bytes are: the same address when it is replaced. */
export const documentUrl = (hubUrl: string, listingId: string) =>
  `${hubUrl}/api/v1/hub/listings/${listingId}/capability-doc/content`
