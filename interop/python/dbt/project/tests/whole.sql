-- Fails when a row has been lost between the lake and the model.
select 1 where (select sum(items) from {{ ref('busy') }}) <> (select count(*) from {{ source('lake', 'item') }})
