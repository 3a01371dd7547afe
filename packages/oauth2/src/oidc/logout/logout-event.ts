/** Member of the claim `events` that makes a token a logout token (OpenID Connect Back-Channel Logout, 2.4). */
export const logoutEvent: string = "http://schemas.openid.net/event/backchannel-logout";
