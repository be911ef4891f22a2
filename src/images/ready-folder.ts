/** Where a home has the layout of the ready-made server's image, which `publish` and `npm run image:ready` build. */
export const readyFolder = "ready-image"
