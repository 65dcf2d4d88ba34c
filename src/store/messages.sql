-- Added by version 3. The job that a message is for; empty for a creation.
ALTER TABLE once ADD COLUMN message_to TEXT;
