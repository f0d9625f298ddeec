/** Why components have rights that they have on several kinds. */

export const OWNER_REFERENCES =
  "Owner references that block the deletion of the owner may only be set by who may change the owner's finalizers.";
