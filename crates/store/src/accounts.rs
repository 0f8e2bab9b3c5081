//! Accounts, project memberships with roles, and login sessions.
//!
//! Callers hash passwords and cookies; this module never gets them in clear text.

use jurist_core::grade::Time;

pub use crate::role::ProjectRole;

use crate::db::{DbRow, Tx, args, statements};
use crate::tokens::AccessToken;
use crate::{AccountId, ProjectId, Store, StoreError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAccount {
    pub id: AccountId,
    /// In lower case.
    pub email: String,
    pub name: String,
    /// Hash of the password; `None` for accounts that sign in another way.
    pub password: Option<String>,
    /// Administrators have all permissions in every project.
    pub is_admin: bool,
    pub created: Time,
    pub disabled: Option<Time>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAccount {
    pub email: String,
    pub name: String,
    pub password: Option<String>,
    pub is_admin: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectMember {
    pub project: ProjectId,
    pub account: AccountId,
    pub email: String,
    pub name: String,
    pub role: ProjectRole,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginSession {
    pub account: StoredAccount,
    pub created: Time,
    pub expires: Time,
    pub seen: Time,
}

statements! {
    ADD = "INSERT INTO accounts (id, email, name, password, is_admin, created) VALUES ($1, $2, $3, $4, $5, $6)";
    USE_UP = "UPDATE tokens SET revoked = $3 WHERE project = $1 AND id = $2 AND revoked IS NULL";
    COUNT_ADMINS = "SELECT COUNT(*) AS n FROM accounts WHERE is_admin = 1 AND disabled IS NULL";
    GET = "SELECT * FROM accounts WHERE id = $1";
    BY_EMAIL = "SELECT * FROM accounts WHERE email = $1";
    LIST = "SELECT * FROM accounts ORDER BY email";
    SET_PASSWORD = "UPDATE accounts SET password = $2 WHERE id = $1";
    SET_NAME = "UPDATE accounts SET name = $2 WHERE id = $1";
    SET_ADMIN = "UPDATE accounts SET is_admin = $2 WHERE id = $1";
    SET_DISABLED = "UPDATE accounts SET disabled = $2 WHERE id = $1";
    SET_ROLE = "INSERT INTO members (project, account, role, created) VALUES ($1, $2, $3, $4)
        ON CONFLICT (project, account) DO UPDATE SET role = excluded.role";
    REMOVE_MEMBER = "DELETE FROM members WHERE project = $1 AND account = $2";
    REVOKE_THEIRS = "UPDATE tokens SET revoked = COALESCE(revoked, $3) WHERE project = $1 AND author = $2";
    // The update locks the rows until the transaction ends, so that two owners cannot remove each other.
    OWNERS = "UPDATE members SET role = role WHERE project = $1 AND role = 'owner' RETURNING account";
    ROLE = "SELECT role FROM members WHERE project = $1 AND account = $2";
    MEMBERS = "SELECT members.*, accounts.email, accounts.name FROM members
        JOIN accounts ON accounts.id = members.account WHERE members.project = $1 ORDER BY accounts.email";
    MEMBERSHIPS = "SELECT members.*, accounts.email, accounts.name FROM members
        JOIN accounts ON accounts.id = members.account WHERE members.account = $1 ORDER BY members.project";
    SIGN_IN = "INSERT INTO sessions (hash, account, created, expires, seen) VALUES ($1, $2, $3, $4, $3)";
    SESSION = "SELECT accounts.*, sessions.created AS signed_in, sessions.expires, sessions.seen FROM sessions
        JOIN accounts ON accounts.id = sessions.account
        WHERE sessions.hash = $1 AND $2 < sessions.expires AND accounts.disabled IS NULL";
    EXTEND = "UPDATE sessions SET seen = $2, expires = $3 WHERE hash = $1";
    SIGN_OUT = "DELETE FROM sessions WHERE hash = $1";
    SIGN_OUT_ALL = "DELETE FROM sessions WHERE account = $1";
    EXPIRE = "DELETE FROM sessions WHERE expires <= $1";
}

impl Store {
    pub async fn add_account(&self, new: &NewAccount, now: Time) -> Result<StoredAccount, StoreError> {
        let (id, email) = (AccountId::at(now), new.email.to_lowercase());
        let args = args![id, &email, &new.name, new.password.clone(), new.is_admin, now];
        self.db.execute(ADD, args).await.map_err(|error| error.into_taken("account", &email))?;
        self.account(id).await
    }

    /// Creates an account from an invitation and consumes the invitation. `None` if it was used in the meantime.
    pub async fn join(
        &self,
        invitation: &AccessToken,
        new: &NewAccount,
        role: ProjectRole,
        now: Time,
    ) -> Result<Option<StoredAccount>, StoreError> {
        let (id, email) = (AccountId::at(now), new.email.to_lowercase());
        let mut tx = self.db.begin().await?;
        if tx.execute(USE_UP, args![invitation.project, invitation.id, now]).await? == 0 {
            return Ok(None);
        }
        let args = args![id, &email, &new.name, new.password.clone(), new.is_admin, now];
        tx.execute(ADD, args).await.map_err(|error| error.into_taken("account", &email))?;
        tx.execute(SET_ROLE, args![invitation.project, id, role.as_str(), now]).await?;
        tx.commit().await?;
        self.account(id).await.map(Some)
    }

    /// Adds an existing account to a project by an invitation and consumes the invitation. Returns `false` if it was
    /// used before, or if the account has the same or a higher role already: an invitation never lowers a role.
    pub async fn join_project(
        &self,
        invitation: &AccessToken,
        account: AccountId,
        role: ProjectRole,
        is_admin: bool,
        now: Time,
    ) -> Result<bool, StoreError> {
        let project = invitation.project;
        let mut tx = self.db.begin().await?;
        let is_used = tx.execute(USE_UP, args![project, invitation.id, now]).await? == 0;
        let is_member = tx.optional(ROLE, args![project, account]).await?.is_some();
        if is_used || (is_member && !is_admin) {
            return Ok(false);
        }
        tx.execute(SET_ROLE, args![project, account, role.as_str(), now]).await?;
        if is_admin {
            tx.execute(SET_ADMIN, args![account, true]).await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Creates an account together with its membership, in one transaction.
    pub async fn add_member_account(
        &self,
        project: ProjectId,
        new: &NewAccount,
        role: ProjectRole,
        now: Time,
    ) -> Result<StoredAccount, StoreError> {
        let (id, email) = (AccountId::at(now), new.email.to_lowercase());
        let mut tx = self.db.begin().await?;
        let args = args![id, &email, &new.name, new.password.clone(), new.is_admin, now];
        tx.execute(ADD, args).await.map_err(|error| error.into_taken("account", &email))?;
        tx.execute(SET_ROLE, args![project, id, role.as_str(), now]).await?;
        tx.commit().await?;
        self.account(id).await
    }

    /// Whether the server has an administrator.
    pub async fn has_admin(&self) -> Result<bool, StoreError> {
        Ok(0 < self.db.one(COUNT_ADMINS, Vec::new()).await?.count("n")?)
    }

    pub async fn account(&self, id: AccountId) -> Result<StoredAccount, StoreError> {
        let row = self.db.optional(GET, args![id]).await?;
        read_account_row(&row.ok_or_else(|| StoreError::unknown("account", &id))?)
    }

    pub async fn account_by_email(&self, email: &str) -> Result<Option<StoredAccount>, StoreError> {
        self.db
            .optional(BY_EMAIL, args![email.to_lowercase()])
            .await?
            .as_ref()
            .map(read_account_row)
            .transpose()
    }

    pub async fn accounts(&self) -> Result<Vec<StoredAccount>, StoreError> {
        self.db.fetch(LIST, Vec::new()).await?.iter().map(read_account_row).collect()
    }

    /// Sets the password and ends all sessions of the account.
    pub async fn set_password(&self, id: AccountId, hash: Option<&str>) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        if tx.execute(SET_PASSWORD, args![id, hash]).await? == 0 {
            return Err(StoreError::unknown("account", &id));
        }
        tx.execute(SIGN_OUT_ALL, args![id]).await?;
        tx.commit().await
    }

    pub async fn set_account_name(&self, id: AccountId, name: &str) -> Result<(), StoreError> {
        self.db.execute(SET_NAME, args![id, name]).await.map(drop)
    }

    pub async fn set_admin(&self, id: AccountId, is_admin: bool) -> Result<(), StoreError> {
        self.db.execute(SET_ADMIN, args![id, is_admin]).await.map(drop)
    }

    /// Disables an account; `None` enables it again.
    pub async fn disable_account(&self, id: AccountId, since: Option<Time>) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        tx.execute(SET_DISABLED, args![id, since]).await?;
        if since.is_some() {
            tx.execute(SIGN_OUT_ALL, args![id]).await?;
        }
        tx.commit().await
    }

    pub async fn set_role(
        &self,
        project: ProjectId,
        account: AccountId,
        role: ProjectRole,
        now: Time,
    ) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        if role != ProjectRole::Owner {
            keep_an_owner(&mut tx, project, account).await?;
        }
        tx.execute(SET_ROLE, args![project, account, role.as_str(), now]).await?;
        tx.commit().await
    }

    /// Removes a member, and the tokens that the member created for the project.
    pub async fn remove_member(
        &self,
        project: ProjectId,
        account: AccountId,
        now: Time,
    ) -> Result<bool, StoreError> {
        let mut tx = self.db.begin().await?;
        keep_an_owner(&mut tx, project, account).await?;
        let is_removed = tx.execute(REMOVE_MEMBER, args![project, account]).await? == 1;
        tx.execute(REVOKE_THEIRS, args![project, account, now]).await?;
        tx.commit().await?;
        Ok(is_removed)
    }

    pub async fn role(
        &self,
        project: ProjectId,
        account: AccountId,
    ) -> Result<Option<ProjectRole>, StoreError> {
        self.db.optional(ROLE, args![project, account]).await?.map(|row| row.parse("role")).transpose()
    }

    pub async fn members(&self, project: ProjectId) -> Result<Vec<ProjectMember>, StoreError> {
        self.db.fetch(MEMBERS, args![project]).await?.iter().map(read_member).collect()
    }

    /// The projects that an account is a member of.
    pub async fn memberships(&self, account: AccountId) -> Result<Vec<ProjectMember>, StoreError> {
        self.db.fetch(MEMBERSHIPS, args![account]).await?.iter().map(read_member).collect()
    }

    /// `hash` is of the cookie.
    pub async fn sign_in(
        &self,
        hash: &str,
        account: AccountId,
        now: Time,
        expires: Time,
    ) -> Result<(), StoreError> {
        self.db.execute(SIGN_IN, args![hash, account, now, expires]).await.map(drop)
    }

    /// The session with this hash, unless it has expired or its account is disabled.
    pub async fn session(&self, hash: &str, now: Time) -> Result<Option<LoginSession>, StoreError> {
        let Some(row) = self.db.optional(SESSION, args![hash, now]).await? else { return Ok(None) };
        Ok(Some(LoginSession {
            account: read_account_row(&row)?,
            created: row.time("signed_in")?,
            expires: row.time("expires")?,
            seen: row.time("seen")?,
        }))
    }

    pub async fn extend_session(&self, hash: &str, now: Time, expires: Time) -> Result<(), StoreError> {
        self.db.execute(EXTEND, args![hash, now, expires]).await.map(drop)
    }

    pub async fn sign_out(&self, hash: &str) -> Result<(), StoreError> {
        self.db.execute(SIGN_OUT, args![hash]).await.map(drop)
    }

    pub async fn sign_out_everywhere(&self, account: AccountId) -> Result<u64, StoreError> {
        self.db.execute(SIGN_OUT_ALL, args![account]).await
    }

    pub async fn drop_expired_sessions(&self, now: Time) -> Result<u64, StoreError> {
        self.db.execute(EXPIRE, args![now]).await
    }
}

/// Fails if the account is the only owner of the project.
async fn keep_an_owner(tx: &mut Tx, project: ProjectId, account: AccountId) -> Result<(), StoreError> {
    match tx.fetch(OWNERS, args![project]).await?.as_slice() {
        [only] if only.parse::<AccountId>("account")? == account => Err(StoreError::LastOwner),
        _ => Ok(()),
    }
}

fn read_account_row(row: &DbRow) -> Result<StoredAccount, StoreError> {
    Ok(StoredAccount {
        id: row.parse("id")?,
        email: row.get("email")?,
        name: row.get("name")?,
        password: row.get("password")?,
        is_admin: row.flag("is_admin")?,
        created: row.time("created")?,
        disabled: row.maybe_time("disabled")?,
    })
}

fn read_member(row: &DbRow) -> Result<ProjectMember, StoreError> {
    Ok(ProjectMember {
        project: row.parse("project")?,
        account: row.parse("account")?,
        email: row.get("email")?,
        name: row.get("name")?,
        role: row.parse("role")?,
    })
}
