-- A token belongs to the person who made it. One that was made with another token is that token's owner's; who made
-- which is in the audit. A chain of more than 100 is nobody's doing.
WITH RECURSIVE makers (token, maker, depth) AS (
    SELECT target, actor, 1 FROM audit WHERE action = 'token.add'
    UNION ALL
    SELECT makers.token, audit.actor, makers.depth + 1 FROM makers
    JOIN audit ON audit.action = 'token.add' AND audit.target = makers.maker
    WHERE makers.depth < 100)
UPDATE tokens SET author = (
    SELECT accounts.id FROM makers JOIN accounts ON accounts.id = makers.maker
    WHERE makers.token = tokens.id LIMIT 1)
WHERE author IS NULL;

-- Links to tasks that were made with a token: the audit names the task, and the entry follows the link.
UPDATE tokens SET author = (
    SELECT makers.author FROM audit JOIN tokens AS makers ON makers.id = audit.actor
    WHERE audit.action = 'task.link' AND audit.project = tokens.project AND tokens.created <= audit.time
        AND tokens.scopes = '["task:' || audit.target || '"]'
    ORDER BY audit.time, audit.id LIMIT 1)
WHERE author IS NULL AND scopes LIKE '["task:%';

-- The audit does not name invitations, which last a day: those of nobody end.
UPDATE tokens SET revoked = created WHERE author IS NULL AND revoked IS NULL AND scopes LIKE '["join:%';

-- Those who are no members any more took along only what they had made themselves.
UPDATE tokens SET revoked = created WHERE revoked IS NULL AND author IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM members WHERE members.project = tokens.project AND members.account = tokens.author)
    AND NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.id = tokens.author AND accounts.is_admin = 1);
